/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/aarch64/insn.h"

#include <errno.h>
#include <string.h>

#include "sysdeps/aarch64/bits.h"

/* Arm Architecture Reference Manual, C4.1, "A64 instruction set encoding". */

enum { SIZE = 4 };

static void set_target(struct insn *insn, int64_t distance)
{
	insn->op.immediate = (int64_t)(insn->address + (taddr_t)distance);
}

/* ldr Rt, label; ldrsw; prfm; and with V set, of s, d and q registers. */
static bool decode_literal(uint32_t word, struct insn *insn)
{
	const unsigned opc = bits(word, 30, 2);
	const bool vector = bits(word, 26, 1);

	if ((word & 0x3b000000) != 0x18000000)
		return false;
	set_target(insn, signed_bits(word, 5, 19) * 4);
	insn->op.reg = (int8_t)rd(word);
	insn->op.size = opc == 1 ? 8 : 4;
	insn->op.source_size = opc == 2; /* it extends the sign */
	if (vector)
		insn->op.kind = AARCH64_LOAD_WIDE;
	else
		insn->op.kind = opc == 3 ? AARCH64_PREFETCH : AARCH64_LOAD;
	return !vector || opc != 3;
}

static bool decode_address(uint32_t word, struct insn *insn)
{
	if ((word & 0x1f000000) != 0x10000000)
		return false;
	insn->op.kind = AARCH64_ADDRESS;
	insn->op.reg = (int8_t)rd(word);
	if (is_adrp(word))
		insn->op.immediate = (int64_t)adrp_target(word, insn->address);
	else
		set_target(insn, adr_immediate(word));
	return true;
}

static bool decode_sum(uint32_t word, struct insn *insn)
{
	insn->op.reg = (int8_t)rd(word);
	insn->op.base = (int8_t)rn(word);
	insn->op.source = (int8_t)bits(word, 30, 1);
	if ((word & 0xdf800000) == 0xd2800000) {
		insn->op.kind = AARCH64_MOVE;
		insn->op.source = (int8_t)bits(word, 29, 1);
		insn->op.scale = (uint8_t)(bits(word, 21, 2) * 16);
		insn->op.immediate = (int64_t)bits(word, 5, 16);
	} else if ((word & 0xffffffe0) == 0xd53bd040) {
		insn->op.kind = AARCH64_THREAD;
	} else if (is_ldr(word)) {
		insn->op.kind = AARCH64_LOAD_AT;
		insn->op.displacement = ldr_offset(word);
	} else if ((word & 0xbf800000) == 0x91000000) {
		insn->op.kind = AARCH64_ADD_IMMEDIATE;
		insn->op.displacement = (int64_t)bits(word, 10, 12)
					<< bits(word, 22, 1) * 12;
	} else if ((word & 0xbfe00000) == 0x8b000000) {
		insn->op.kind = AARCH64_ADD;
		insn->op.index = (int8_t)bits(word, 16, 5);
		insn->op.scale = (uint8_t)bits(word, 10, 6);
	} else {
		return false;
	}
	return true;
}

/* b, bl, b.cond (and bc.cond), cbz, cbnz, tbz, tbnz. */
static bool decode_branch(uint32_t word, struct insn *insn)
{
	insn->op.reg = (int8_t)rd(word);
	insn->op.source = (int8_t)bits(word, 24, 1);
	if ((word & 0x7c000000) == 0x14000000) {
		insn->op.kind = word >> 31 ? AARCH64_BL : AARCH64_B;
		set_target(insn, signed_bits(word, 0, 26) * 4);
	} else if ((word & 0xff000000) == 0x54000000) {
		insn->op.kind = AARCH64_B_IF;
		insn->op.condition = (uint8_t)bits(word, 0, 4);
		set_target(insn, signed_bits(word, 5, 19) * 4);
	} else if ((word & 0x7e000000) == 0x34000000) {
		insn->op.kind = AARCH64_CBZ;
		insn->op.size = word >> 31 ? 8 : 4;
		set_target(insn, signed_bits(word, 5, 19) * 4);
	} else if ((word & 0x7e000000) == 0x36000000) {
		insn->op.kind = AARCH64_TBZ;
		insn->op.condition =
			(uint8_t)(bits(word, 31, 1) << 5 | bits(word, 19, 5));
		set_target(insn, signed_bits(word, 5, 14) * 4);
	} else {
		return false;
	}
	return true;
}

/*
 * Unconditional branches to a register. A signed blr can't be done elsewhere:
 * it would leave another return address, and a jump in its place would be one
 * to where only calls may lead.
 */
static int decode_indirect(uint32_t word, struct insn *insn)
{
	const unsigned opc = bits(word, 21, 4), op3 = bits(word, 10, 6);

	insn->op.reg = (int8_t)rn(word);
	if (is_br(word))
		insn->op.kind = AARCH64_BR;
	else if (is_blr(word))
		insn->op.kind = AARCH64_BLR;
	else if ((word & 0xfffffc1f) == 0xd65f0000)
		insn->op.kind = AARCH64_RET;
	else if ((op3 == 2 || op3 == 3) && (opc & 7) != 1)
		insn->op.kind = AARCH64_RET_SIGNED;
	else
		insn->way = INSN_STEP;
	return 0;
}

/* Hints without an effect on registers: nop, yield …, sevl, csdb, bti. */
static bool is_nop(uint32_t word)
{
	const unsigned hint = bits(word, 5, 7);

	return (word & 0xfffff01f) == 0xd503201f &&
	       (hint < 6 || hint == 20 || (hint & ~6u) == 32);
}

/* svc, hvc, smc, brk, hlt, dcps. */
static bool raises_exception(uint32_t word)
{
	return (word & 0xff000000) == 0xd4000000;
}

/* What op0 (bits 25 to 28) leaves without a meaning. */
static bool is_unallocated(uint32_t word)
{
	const unsigned op0 = bits(word, 25, 4);

	return op0 == 1 || op0 == 3 || (op0 == 0 && !(word >> 31));
}

static bool can_emulate(enum aarch64_kind kind)
{
	return kind != AARCH64_OTHER && kind != AARCH64_LOAD_WIDE &&
	       kind != AARCH64_RET_SIGNED;
}

int aarch64_insn_decode(taddr_t address, const uint8_t *code, size_t n,
			struct insn *ret)
{
	struct insn insn = { .address = address, .length = SIZE };
	uint32_t word;

	if (n < SIZE || address % SIZE)
		return -EILSEQ;
	memcpy(&word, code, SIZE);
	if (is_unallocated(word))
		return -EILSEQ;
	memcpy(insn.bytes, code, SIZE);
	insn.way = INSN_RELOCATE;
	if (is_nop(word))
		insn.op.kind = AARCH64_NOP;
	else if (raises_exception(word))
		insn.way = INSN_STEP;
	else if ((word & 0xfe000000) == 0xd6000000)
		decode_indirect(word, &insn);
	else if (!decode_branch(word, &insn) && !decode_address(word, &insn) &&
		 !decode_literal(word, &insn))
		(void)decode_sum(word, &insn);
	insn.emulable = can_emulate(insn.op.kind);
	if (insn.emulable)
		insn.way = INSN_EMULATE;
	*ret = insn;
	return 0;
}
