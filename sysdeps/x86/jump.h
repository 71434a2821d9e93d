/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_X86_JUMP_H
#define CALLTRAP_X86_JUMP_H

#include "sysdeps/arch.h"

/* How a C library keeps a stack pointer in a jmp_buf. */
struct x86_jump {
	uint8_t word_size;
	uint8_t member; /* the word that it is */
	uint8_t guard;  /* of the thread's data: what it is mixed with */
	uint8_t rotation;
};

/* arch_ops' jump_targets() for a buffer at an address. */
size_t x86_jump_targets(const struct x86_jump *jump, struct memory *memory,
			taddr_t buffer, taddr_t thread,
			taddr_t ret[JUMP_TARGETS_MAX]);

#endif
