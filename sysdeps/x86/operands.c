/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86/decode.h"

#include "sysdeps/x86/registers.h"

struct known_mnemonic {
	uint16_t mnemonic;
	uint8_t kind;
	uint8_t condition;
};

static const struct known_mnemonic known[] = {
	{ ZYDIS_MNEMONIC_NOP, X86_NOP, 0 },
	{ ZYDIS_MNEMONIC_ENDBR32, X86_NOP, 0 },
	{ ZYDIS_MNEMONIC_ENDBR64, X86_NOP, 0 },
	{ ZYDIS_MNEMONIC_PAUSE, X86_NOP, 0 },
	{ ZYDIS_MNEMONIC_XCHG, X86_NOP, 0 },
	{ ZYDIS_MNEMONIC_MOV, X86_MOVE, 0 },
	{ ZYDIS_MNEMONIC_MOVZX, X86_MOVE, 0 },
	{ ZYDIS_MNEMONIC_MOVSX, X86_SIGN_EXTEND, 0 },
	{ ZYDIS_MNEMONIC_MOVSXD, X86_SIGN_EXTEND, 0 },
	{ ZYDIS_MNEMONIC_CBW, X86_SIGN_EXTEND, 0 },
	{ ZYDIS_MNEMONIC_CWDE, X86_SIGN_EXTEND, 0 },
	{ ZYDIS_MNEMONIC_CDQE, X86_SIGN_EXTEND, 0 },
	{ ZYDIS_MNEMONIC_CMOVO, X86_MOVE_IF, 0 },
	{ ZYDIS_MNEMONIC_CMOVNO, X86_MOVE_IF, 1 },
	{ ZYDIS_MNEMONIC_CMOVB, X86_MOVE_IF, 2 },
	{ ZYDIS_MNEMONIC_CMOVNB, X86_MOVE_IF, 3 },
	{ ZYDIS_MNEMONIC_CMOVZ, X86_MOVE_IF, 4 },
	{ ZYDIS_MNEMONIC_CMOVNZ, X86_MOVE_IF, 5 },
	{ ZYDIS_MNEMONIC_CMOVBE, X86_MOVE_IF, 6 },
	{ ZYDIS_MNEMONIC_CMOVNBE, X86_MOVE_IF, 7 },
	{ ZYDIS_MNEMONIC_CMOVS, X86_MOVE_IF, 8 },
	{ ZYDIS_MNEMONIC_CMOVNS, X86_MOVE_IF, 9 },
	{ ZYDIS_MNEMONIC_CMOVP, X86_MOVE_IF, 10 },
	{ ZYDIS_MNEMONIC_CMOVNP, X86_MOVE_IF, 11 },
	{ ZYDIS_MNEMONIC_CMOVL, X86_MOVE_IF, 12 },
	{ ZYDIS_MNEMONIC_CMOVNL, X86_MOVE_IF, 13 },
	{ ZYDIS_MNEMONIC_CMOVLE, X86_MOVE_IF, 14 },
	{ ZYDIS_MNEMONIC_CMOVNLE, X86_MOVE_IF, 15 },
	{ ZYDIS_MNEMONIC_LEA, X86_ADDRESS, 0 },
	{ ZYDIS_MNEMONIC_ADD, X86_ADD, 0 },
	{ ZYDIS_MNEMONIC_SUB, X86_SUB, 0 },
	{ ZYDIS_MNEMONIC_AND, X86_AND, 0 },
	{ ZYDIS_MNEMONIC_OR, X86_OR, 0 },
	{ ZYDIS_MNEMONIC_XOR, X86_XOR, 0 },
	{ ZYDIS_MNEMONIC_CMP, X86_COMPARE, 0 },
	{ ZYDIS_MNEMONIC_TEST, X86_TEST, 0 },
	{ ZYDIS_MNEMONIC_PUSH, X86_PUSH, 0 },
	{ ZYDIS_MNEMONIC_POP, X86_POP, 0 },
	{ ZYDIS_MNEMONIC_LEAVE, X86_LEAVE, 0 },
	{ ZYDIS_MNEMONIC_CALL, X86_CALL, 0 },
	{ ZYDIS_MNEMONIC_RET, X86_RETURN, 0 },
	{ ZYDIS_MNEMONIC_JMP, X86_JUMP, 0 },
	{ ZYDIS_MNEMONIC_JO, X86_JUMP_IF, 0 },
	{ ZYDIS_MNEMONIC_JNO, X86_JUMP_IF, 1 },
	{ ZYDIS_MNEMONIC_JB, X86_JUMP_IF, 2 },
	{ ZYDIS_MNEMONIC_JNB, X86_JUMP_IF, 3 },
	{ ZYDIS_MNEMONIC_JZ, X86_JUMP_IF, 4 },
	{ ZYDIS_MNEMONIC_JNZ, X86_JUMP_IF, 5 },
	{ ZYDIS_MNEMONIC_JBE, X86_JUMP_IF, 6 },
	{ ZYDIS_MNEMONIC_JNBE, X86_JUMP_IF, 7 },
	{ ZYDIS_MNEMONIC_JS, X86_JUMP_IF, 8 },
	{ ZYDIS_MNEMONIC_JNS, X86_JUMP_IF, 9 },
	{ ZYDIS_MNEMONIC_JP, X86_JUMP_IF, 10 },
	{ ZYDIS_MNEMONIC_JNP, X86_JUMP_IF, 11 },
	{ ZYDIS_MNEMONIC_JL, X86_JUMP_IF, 12 },
	{ ZYDIS_MNEMONIC_JNL, X86_JUMP_IF, 13 },
	{ ZYDIS_MNEMONIC_JLE, X86_JUMP_IF, 14 },
	{ ZYDIS_MNEMONIC_JNLE, X86_JUMP_IF, 15 },
	{ ZYDIS_MNEMONIC_JCXZ, X86_JUMP_ZERO, 0 },
	{ ZYDIS_MNEMONIC_JECXZ, X86_JUMP_ZERO, 0 },
	{ ZYDIS_MNEMONIC_JRCXZ, X86_JUMP_ZERO, 0 },
	{ ZYDIS_MNEMONIC_LOOP, X86_LOOP, X86_LOOP_ALWAYS },
	{ ZYDIS_MNEMONIC_LOOPE, X86_LOOP, X86_LOOP_EQUAL },
	{ ZYDIS_MNEMONIC_LOOPNE, X86_LOOP, X86_LOOP_NOT_EQUAL },
};

static const struct known_mnemonic *known_find(ZydisMnemonic mnemonic)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].mnemonic == mnemonic)
			return &known[i];
	return NULL;
}

static bool between(ZydisRegister r, ZydisRegister first, ZydisRegister last)
{
	return r >= first && r <= last;
}

/* A general register's number, or X86_NONE when it is not one. */
static int8_t register_number(ZydisRegister r)
{
	if (between(r, ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15))
		return (int8_t)(r - ZYDIS_REGISTER_RAX);
	if (between(r, ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_R15D))
		return (int8_t)(r - ZYDIS_REGISTER_EAX);
	if (between(r, ZYDIS_REGISTER_AX, ZYDIS_REGISTER_R15W))
		return (int8_t)(r - ZYDIS_REGISTER_AX);
	if (between(r, ZYDIS_REGISTER_AL, ZYDIS_REGISTER_BL))
		return (int8_t)(r - ZYDIS_REGISTER_AL);
	if (between(r, ZYDIS_REGISTER_AH, ZYDIS_REGISTER_BH))
		return (int8_t)(X86_AH + r - ZYDIS_REGISTER_AH);
	if (between(r, ZYDIS_REGISTER_SPL, ZYDIS_REGISTER_R15B))
		return (int8_t)(X86_RSP + r - ZYDIS_REGISTER_SPL);
	return X86_NONE;
}

static taddr_t next_address(const struct x86_decoding *d)
{
	return d->insn->address + d->insn->length;
}

/* An absent register is fine, one that is not general (rip aside) is not. */
static bool take_address_register(ZydisRegister r, int8_t *ret)
{
	*ret = register_number(r);
	return *ret != X86_NONE || r == ZYDIS_REGISTER_NONE || x86_is_ip(r);
}

static uint8_t segment_number(ZydisRegister r)
{
	switch (r) {
	case ZYDIS_REGISTER_FS:
		return X86_FS;
	case ZYDIS_REGISTER_GS:
		return X86_GS;
	default:
		return X86_FLAT;
	}
}

static bool take_memory(struct x86_decoding *d,
			const ZydisDecodedOperandMem *mem)
{
	struct insn *insn = d->insn;

	/* It isn't writable. */
	if (mem->segment == ZYDIS_REGISTER_CS && d->word_size == 4)
		return false;
	if (d->zydis.address_width != 8 * d->word_size)
		return false;
	if (!take_address_register(mem->base, &insn->op.base) ||
	    !take_address_register(mem->index, &insn->op.index))
		return false;
	insn->op.segment = segment_number(mem->segment);
	insn->op.scale = mem->scale;
	insn->op.displacement = mem->disp.value;
	if (x86_is_ip(mem->base))
		insn->op.displacement += (int64_t)next_address(d);
	return true;
}

static bool take_immediate(struct x86_decoding *d,
			   const ZydisDecodedOperandImm *imm)
{
	int64_t value = imm->value.s;

	if (imm->is_relative)
		value = (int64_t)x86_truncate(next_address(d) + (uint64_t)value,
					      d->word_size);
	d->insn->op.immediate = value;
	return true;
}

static bool take(struct x86_decoding *d, unsigned i, int8_t *ret)
{
	const ZydisDecodedOperand *operand = &d->operands[i];

	switch (operand->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		*ret = register_number(operand->reg.value);
		return *ret != X86_NONE;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		*ret = X86_MEMORY;
		return take_memory(d, &operand->mem);
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		*ret = X86_IMMEDIATE;
		return take_immediate(d, &operand->imm);
	default:
		return false;
	}
}

static unsigned operand_size(const struct x86_decoding *d, unsigned i)
{
	return d->operands[i].size / 8;
}

static bool take_target(struct x86_decoding *d)
{
	d->insn->op.size = (uint8_t)operand_size(d, 0);
	return take(d, 0, &d->insn->op.reg);
}

static bool take_source(struct x86_decoding *d, unsigned i)
{
	d->insn->op.source_size = (uint8_t)operand_size(d, i);
	return take(d, i, &d->insn->op.source);
}

static bool take_both(struct x86_decoding *d)
{
	return d->zydis.operand_count_visible == 2 && take_target(d) &&
	       take_source(d, 1);
}

/* The accumulator's lower half is widened: cbw, cwde, cdqe. */
static bool take_accumulator(struct x86_decoding *d)
{
	d->insn->op.reg = X86_RAX;
	d->insn->op.source = X86_RAX;
	d->insn->op.size = d->zydis.operand_width / 8;
	d->insn->op.source_size = d->insn->op.size / 2;
	return true;
}

/* Storing in parts what another thread may be reading: cmp and test only. */
static bool take_calculation(struct x86_decoding *d)
{
	if (!take_both(d))
		return false;
	return d->insn->op.reg != X86_MEMORY ||
	       d->insn->op.kind == X86_COMPARE || d->insn->op.kind == X86_TEST;
}

static bool take_pop(struct x86_decoding *d)
{
	return x86_whole_words(d) && take_target(d) &&
	       d->insn->op.reg != X86_MEMORY;
}

static bool take_return(struct x86_decoding *d)
{
	if (!x86_is_near(d))
		return false;
	if (d->zydis.operand_count_visible)
		return take_source(d, 0);
	d->insn->op.immediate = 0;
	return true;
}

static bool take_branch(struct x86_decoding *d)
{
	return x86_is_near(d) && take_source(d, 0);
}

static bool repeats(const struct x86_decoding *d)
{
	for (unsigned i = 0; i < d->zydis.raw.prefix_count; i++)
		if (d->zydis.raw.prefixes[i].value == 0xf2 ||
		    d->zydis.raw.prefixes[i].value == 0xf3)
			return true;
	return false;
}

/* AMD's processors take f3 e0 for loope (f3 e1), Intel's ignore the prefix. */
static bool take_count(struct x86_decoding *d)
{
	if (d->insn->op.kind == X86_LOOP && repeats(d))
		return false;
	d->insn->op.size = d->zydis.address_width / 8;
	return take_branch(d);
}

/* 0x90 swaps rax with itself unless a prefix makes it another's, which Zydis
   overlooks behind the one for pause. */
static bool is_plain_nop(const struct x86_decoding *d)
{
	if (d->zydis.mnemonic == ZYDIS_MNEMONIC_PAUSE)
		return !d->zydis.raw.rex.B;
	return d->zydis.mnemonic != ZYDIS_MNEMONIC_XCHG ||
	       (d->zydis.opcode == 0x90 &&
		register_number(d->operands[0].reg.value) == X86_RAX &&
		register_number(d->operands[1].reg.value) == X86_RAX);
}

static bool take_operands(struct x86_decoding *d)
{
	switch ((enum x86_kind)d->insn->op.kind) {
	case X86_NOP:
		return is_plain_nop(d);
	case X86_SIGN_EXTEND:
		if (!d->zydis.operand_count_visible)
			return take_accumulator(d);
		return take_both(d);
	case X86_MOVE:
	case X86_MOVE_IF:
	case X86_ADDRESS:
		return take_both(d);
	case X86_ADD:
	case X86_SUB:
	case X86_AND:
	case X86_OR:
	case X86_XOR:
	case X86_COMPARE:
	case X86_TEST:
		return take_calculation(d);
	case X86_PUSH:
		return x86_whole_words(d) && take_source(d, 0);
	case X86_POP:
		return take_pop(d);
	case X86_LEAVE:
		return x86_whole_words(d);
	case X86_CALL:
	case X86_JUMP:
	case X86_JUMP_IF:
		return take_branch(d);
	case X86_RETURN:
		return take_return(d);
	case X86_JUMP_ZERO:
	case X86_LOOP:
		return take_count(d);
	case X86_OTHER:
		break;
	}
	return false;
}

bool x86_operands_take(struct x86_decoding *d)
{
	const ZydisInstructionAttributes locking = ZYDIS_ATTRIB_HAS_LOCK |
						   ZYDIS_ATTRIB_HAS_XACQUIRE |
						   ZYDIS_ATTRIB_HAS_XRELEASE;
	const struct known_mnemonic *k = known_find(d->zydis.mnemonic);

	if (!k || d->zydis.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
	    (d->zydis.attributes & locking))
		return false;
	d->insn->op.kind = k->kind;
	d->insn->op.condition = k->condition;
	return take_operands(d);
}
