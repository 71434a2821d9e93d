/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AARCH64_INSN_H
#define CALLTRAP_AARCH64_INSN_H

#include "sysdeps/arch.h"

/*
 * What op.kind holds. op.immediate is the address that the instruction speaks
 * of, op.reg the register that it changes or looks at, op.size how many bytes
 * of that matter, op.condition the condition or the bit; op.base and op.index are
 * what is added to op.displacement, op.source says that it is subtracted.
 */
enum aarch64_kind {
	AARCH64_OTHER,     /* the same wherever it stands; not emulable */
	AARCH64_NOP,       /* hints that tell nobody anything: bti too */
	AARCH64_ADDRESS,   /* adr, adrp */
	AARCH64_LOAD,      /* ldr of a literal */
	AARCH64_LOAD_WIDE, /* … into a vector register: not emulable */
	AARCH64_PREFETCH,
	/* What small functions find a thread's variable by; errno's place. */
	AARCH64_MOVE,          /* movz; movk, if op.source; of 64 bits */
	AARCH64_THREAD,        /* mrs Xt, tpidr_el0 */
	AARCH64_LOAD_AT,       /* ldr Xt, [Xn, #offset] */
	AARCH64_ADD_IMMEDIATE, /* add, sub of 64 bits, without flags */
	AARCH64_ADD,           /* … of a register, shifted to the left */
	AARCH64_B,
	AARCH64_BL,
	AARCH64_B_IF,
	AARCH64_CBZ, /* op.source: whether it is cbnz */
	AARCH64_TBZ, /* op.source: whether it is tbnz */
	AARCH64_BR,
	AARCH64_BLR,
	AARCH64_RET,
	AARCH64_RET_SIGNED, /* retaa, braa …: go on elsewhere, not emulable */
};

int aarch64_insn_decode(taddr_t address, const uint8_t *code, size_t n,
			struct insn *ret);
int aarch64_insn_emulate(const struct insn *insn, struct regs *regs,
			 struct memory *memory);
int aarch64_insn_relocate(const struct insn *insn, taddr_t to,
			  uint8_t ret[INSN_COPY_MAX],
			  int8_t resume_ret[INSN_COPY_MAX]);

#endif
