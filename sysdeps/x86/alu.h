/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_X86_ALU_H
#define CALLTRAP_X86_ALU_H

#include <stdbool.h>

#include "base/types.h"
#include "sysdeps/x86/insn.h"

/*
 * X86_ADD to X86_TEST on operands of size bytes: the result (also of
 * comparisons, which don't store it), and the arithmetic flags in *eflags.
 */
uint64_t x86_alu(enum x86_kind kind, uint64_t a, uint64_t b, unsigned size,
		 uint64_t *eflags);

/* Whether a condition code (the low 4 bits of jcc's opcode) holds. */
bool x86_condition(unsigned code, uint64_t eflags);

bool x86_flag_zero(uint64_t eflags);

#endif
