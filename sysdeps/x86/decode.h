/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_X86_DECODE_H
#define CALLTRAP_X86_DECODE_H

#include <Zydis/Zydis.h>

#include "sysdeps/x86/insn.h"

/* What Zydis says of one instruction, and what we make of it. */
struct x86_decoding {
	unsigned word_size;
	ZydisDecodedInstruction zydis;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	struct insn *insn;
};

/* Decodes the instruction that code begins with, for a machine of d->word_size:
   .zydis and .operands, or a negative errno. */
int x86_ask_zydis(struct x86_decoding *d, const uint8_t *code, size_t n);

/*
 * Fills insn's op with what emulation needs, as far as it knows how. Returns
 * whether it does; otherwise op means nothing.
 */
bool x86_operands_take(struct x86_decoding *d);

/* Whether it moves whole words to or from the stack. */
static inline bool x86_whole_words(const struct x86_decoding *d)
{
	return d->zydis.operand_width == 8 * d->word_size &&
	       d->zydis.stack_width == 8 * d->word_size;
}

/*
 * A near branch within all of the address space. In 64 bits Intel ignores the
 * operand size prefix that makes AMD cut ip to 16 bits, unless REX.W says 64.
 */
static inline bool x86_is_near(const struct x86_decoding *d)
{
	bool cuts = (d->zydis.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) &&
		    !d->zydis.raw.rex.W;

	return x86_whole_words(d) && !cuts &&
	       (d->zydis.meta.branch_type == ZYDIS_BRANCH_TYPE_SHORT ||
		d->zydis.meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR);
}

static inline bool x86_is_ip(ZydisRegister r)
{
	return r == ZYDIS_REGISTER_RIP || r == ZYDIS_REGISTER_EIP;
}

#endif
