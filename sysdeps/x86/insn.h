/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_X86_INSN_H
#define CALLTRAP_X86_INSN_H

#include "sysdeps/arch.h"

/*
 * What x86_64 and i386 share. Both modes differ in the size of a word, in
 * bytes: 8 or 4, which is the argument that tells them apart.
 *
 * Zydis is asked once, when a trap is planted: struct insn's op then holds
 * all that emulation needs.
 */

/* What op.kind holds. */
enum x86_kind {
	X86_OTHER, /* not emulable */
	X86_NOP,
	X86_MOVE,
	X86_MOVE_IF, /* op.condition as of X86_JUMP_IF */
	X86_SIGN_EXTEND,
	X86_ADDRESS, /* lea */
	X86_ADD,
	X86_SUB,
	X86_AND,
	X86_OR,
	X86_XOR,
	X86_COMPARE,
	X86_TEST,
	X86_PUSH,
	X86_POP,
	X86_LEAVE,
	/* From here on ip is not merely advanced. */
	X86_CALL,
	X86_RETURN,
	X86_JUMP,
	X86_JUMP_IF,   /* op.condition: the condition code of the opcode */
	X86_JUMP_ZERO, /* jrcxz, jecxz: op.size bytes of rcx */
	X86_LOOP,      /* op.condition: X86_LOOP_* */
};

enum {
	X86_LOOP_ALWAYS,
	X86_LOOP_EQUAL,
	X86_LOOP_NOT_EQUAL,
};

/* What op.reg and op.source hold besides registers, op.base and op.index. */
enum {
	X86_NONE = -1,
	X86_MEMORY = -2,
	X86_IMMEDIATE = -3, /* targets of relative branches: absolute */
};

/* What op.segment holds: the other segments begin at 0. */
enum {
	X86_FLAT,
	X86_FS,
	X86_GS,
};

static inline bool x86_kind_branches(enum x86_kind kind)
{
	return kind >= X86_CALL;
}

/* A PLT stub's. A copy of it needs no way back. */
static inline bool x86_jumps_through_memory(const struct insn *insn)
{
	return insn->op.kind == X86_JUMP && insn->op.source == X86_MEMORY;
}

int x86_insn_decode(unsigned word_size, taddr_t address, const uint8_t *code,
		    size_t n, struct insn *ret);
int x86_insn_emulate(unsigned word_size, const struct insn *insn,
		     struct regs *regs, struct memory *memory);
int x86_insn_relocate(unsigned word_size, const struct insn *insn, taddr_t to,
		      uint8_t ret[INSN_COPY_MAX],
		      int8_t resume_ret[INSN_COPY_MAX]);

#endif
