/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86_64/slot_use.h"

#include <string.h>

#include "sysdeps/x86/decode.h"

/*
 * Code comes to its GOT by displacements from where it is. Any four bytes may be
 * one that stand behind what may be a ModRM byte: what isn't known to call is
 * taken for something else.
 */

#define BEFORE 3 /* bytes of an instruction, before its displacement */
#define WORD   8

/* ---- a register that was loaded from a slot ---- */

/* So far before and behind the load it is followed. */
#define REACH   4096
#define PENDING 64

struct flow {
	const struct slot_range *range;
	const uint8_t *code; /* what can be reached */
	size_t size;
	taddr_t address;
	ZydisRegister reg;
	uint8_t seen[2 * REACH / 8];
	size_t pending[PENDING];
	unsigned count;
};

/* Whether it is to be looked at, or needn't: false means nobody knows. */
static bool go_to(struct flow *flow, size_t at)
{
	if (at >= flow->size)
		return false;
	if (flow->seen[at / 8] >> at % 8 & 1)
		return true;
	if (flow->count == PENDING)
		return false;
	flow->seen[at / 8] |= (uint8_t)(1u << at % 8);
	flow->pending[flow->count++] = at;
	return true;
}

static bool is_register(const struct flow *flow, ZydisRegister reg)
{
	return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
						reg) == flow->reg;
}

static bool is_operand(const struct flow *flow,
		       const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       is_register(flow, operand->reg.value);
}

/* What callees keep. */
static bool is_kept(ZydisRegister reg)
{
	return reg == ZYDIS_REGISTER_RBX || reg == ZYDIS_REGISTER_RBP ||
	       (reg >= ZYDIS_REGISTER_R12 && reg <= ZYDIS_REGISTER_R15);
}

enum effect { NOTHING, GONE, TAKEN };

static enum effect effect_of_operand(const struct flow *flow,
				     const ZydisDecodedOperand *operand)
{
	if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
		return is_register(flow, operand->mem.base) ||
				       is_register(flow, operand->mem.index) ?
			       TAKEN :
			       NOTHING;
	if (!is_operand(flow, operand))
		return NOTHING;
	return operand->actions == ZYDIS_OPERAND_ACTION_WRITE &&
			       operand->size >= 32 ?
		       GONE :
		       TAKEN;
}

/* test %reg, %reg asks whether it is 0; xor makes it so. */
static bool is_twice(const struct flow *flow, const struct x86_decoding *d,
		     ZydisMnemonic mnemonic)
{
	return d->zydis.mnemonic == mnemonic && is_operand(flow, d->operands) &&
	       is_operand(flow, d->operands + 1) &&
	       d->operands[0].size == d->operands[1].size &&
	       d->operands[0].size >= 32;
}

static enum effect effect_of(const struct flow *flow,
			     const struct x86_decoding *d)
{
	enum effect effect = NOTHING;
	unsigned i;

	if (is_twice(flow, d, ZYDIS_MNEMONIC_TEST))
		return NOTHING;
	if (is_twice(flow, d, ZYDIS_MNEMONIC_XOR))
		return GONE;
	for (i = 0; i < d->zydis.operand_count; i++) {
		const enum effect one =
			effect_of_operand(flow, &d->operands[i]);

		if (one > effect)
			effect = one;
	}
	return effect;
}

static bool is_by_register(const struct flow *flow,
			   const struct x86_decoding *d)
{
	return is_operand(flow, d->operands);
}

/* Where it goes on otherwise registers that are kept hold what they held. */
static bool follow_exception(struct flow *flow, size_t next)
{
	const struct slot_range *range = flow->range;
	const taddr_t pad = range->landing ?
				    range->landing(range->context,
						   flow->address + next - 1) :
				    0;

	return !pad || go_to(flow, pad - flow->address);
}

static bool follow_call(struct flow *flow, const struct x86_decoding *d,
			size_t next)
{
	const bool own = is_by_register(flow, d);

	if (!is_kept(flow->reg))
		return own; /* else it may be an argument */
	return (own || effect_of(flow, d) == NOTHING) && go_to(flow, next) &&
	       follow_exception(flow, next);
}

static bool follow_branch(struct flow *flow, const struct x86_decoding *d,
			  size_t next)
{
	const bool always = d->zydis.meta.category == ZYDIS_CATEGORY_UNCOND_BR;

	if (d->operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return is_by_register(flow, d);
	return go_to(flow, next + (size_t)d->operands[0].imm.value.s) &&
	       (always || go_to(flow, next));
}

static bool ends_there(ZydisMnemonic mnemonic)
{
	return mnemonic == ZYDIS_MNEMONIC_UD2 ||
	       mnemonic == ZYDIS_MNEMONIC_INT3 ||
	       mnemonic == ZYDIS_MNEMONIC_HLT;
}

/* Whether nothing else is done with it there. */
static bool follow(struct flow *flow, size_t at)
{
	struct x86_decoding d = { .word_size = WORD };
	size_t next;

	if (x86_ask_zydis(&d, flow->code + at, flow->size - at))
		return false;
	next = at + d.zydis.length;
	switch (d.zydis.meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return follow_call(flow, &d, next);
	case ZYDIS_CATEGORY_RET:
		return flow->reg != ZYDIS_REGISTER_RAX &&
		       flow->reg != ZYDIS_REGISTER_RDX;
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
		return follow_branch(flow, &d, next);
	default:
		break;
	}
	if (ends_there(d.zydis.mnemonic))
		return true;
	switch (effect_of(flow, &d)) {
	case NOTHING:
		return go_to(flow, next);
	case GONE:
		return true;
	case TAKEN:
		break;
	}
	return false;
}

static bool take_one(uint32_t *left)
{
	return *left && (*left)--;
}

static bool load_is_called(const uint8_t *code, size_t size, taddr_t address,
			   size_t behind, ZydisRegister reg,
			   const struct slot_range *range)
{
	const size_t low = behind > REACH ? behind - REACH : 0;
	const size_t left = size - low;
	struct flow flow = {
		.range = range,
		.code = code + low,
		.address = address + low,
		.size = left < 2 * REACH ? left : 2 * REACH,
		.reg = reg,
	};

	if (reg == ZYDIS_REGISTER_RSP || !go_to(&flow, behind - low))
		return false;
	while (flow.count)
		if (!take_one(range->left) ||
		    !follow(&flow, flow.pending[--flow.count]))
			return false;
	return true;
}

/* ---- what comes to it ---- */

/* mov disp(%rip), %reg */
static bool is_load(const uint8_t *insn)
{
	return (insn[0] & 0xfb) == 0x48 && insn[1] == 0x8b &&
	       (insn[2] & 0xc7) == 0x05;
}

static ZydisRegister loaded_register(const uint8_t *insn)
{
	const int number = (insn[2] >> 3 & 7) | (insn[0] & 4) << 1;

	return (ZydisRegister)(ZYDIS_REGISTER_RAX + number);
}

/* cmpq $0, disp(%rip) */
static bool is_question(const uint8_t *insn, const uint8_t *behind)
{
	return insn[0] == 0x48 && insn[1] == 0x83 && insn[2] == 0x3d &&
	       !*behind;
}

/* call or jmp *disp(%rip) */
static bool is_call(const uint8_t *insn)
{
	return insn[1] == 0xff && (insn[2] == 0x15 || insn[2] == 0x25);
}

/* at: of the displacement; more: bytes of the instruction behind that. */
static void judge(const uint8_t *code, size_t size, taddr_t address, size_t at,
		  size_t more, const struct slot_range *range,
		  struct slot_use *ret)
{
	const uint8_t *insn = code + at - BEFORE;
	const size_t behind = at + sizeof(int32_t);

	ret->calls = !more && (is_call(insn) ||
			       (is_load(insn) &&
				load_is_called(code, size, address, behind,
					       loaded_register(insn), range)));
	ret->asks = more == 1 && behind < size &&
		    is_question(insn, code + behind);
}

/* From the next instruction: an immediate may come before that. */
static bool may_be_displacement(uint8_t modrm, size_t more)
{
	return (modrm & 0xc7) == 0x05 && more <= 4 && more != 3;
}

bool x86_64_next_slot_use(const uint8_t *code, size_t size, size_t *at,
			  size_t end, taddr_t address,
			  const struct slot_range *range, struct slot_use *ret)
{
	const size_t last = size < sizeof(int32_t) ? 0 : size - sizeof(int32_t);
	size_t i = *at < BEFORE ? BEFORE : *at;

	for (; i < end + BEFORE && i <= last; i++) {
		int32_t displacement;
		taddr_t target;
		size_t more;

		memcpy(&displacement, code + i, sizeof(displacement));
		target = address + i + sizeof(displacement) +
			 (taddr_t)(int64_t)displacement;
		more = -target % WORD;
		if (target + more - range->low >= range->high - range->low ||
		    !may_be_displacement(code[i - 1], more))
			continue;
		ret->slot = target + more;
		judge(code, size, address, i, more, range, ret);
		*at = i + 1;
		return true;
	}
	*at = i;
	return false;
}
