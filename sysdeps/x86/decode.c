/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86/decode.h"

#include <errno.h>
#include <string.h>

/*
 * What does something else when it runs elsewhere and can't be emulated: it
 * stores ip (or a register holds it afterwards), has its target relative to
 * it, or raises a signal whose siginfo tells it.
 */
static const uint16_t unmovable[] = {
	ZYDIS_MNEMONIC_BOUND,   ZYDIS_MNEMONIC_ENCLU,   ZYDIS_MNEMONIC_HLT,
	ZYDIS_MNEMONIC_INT,     ZYDIS_MNEMONIC_INT1,    ZYDIS_MNEMONIC_INT3,
	ZYDIS_MNEMONIC_INTO,    ZYDIS_MNEMONIC_IRET,    ZYDIS_MNEMONIC_IRETD,
	ZYDIS_MNEMONIC_IRETQ,   ZYDIS_MNEMONIC_SYSCALL, ZYDIS_MNEMONIC_SYSENTER,
	ZYDIS_MNEMONIC_SYSEXIT, ZYDIS_MNEMONIC_SYSRET,  ZYDIS_MNEMONIC_UD0,
	ZYDIS_MNEMONIC_UD1,     ZYDIS_MNEMONIC_UD2,     ZYDIS_MNEMONIC_UIRET,
	ZYDIS_MNEMONIC_XBEGIN,
};

static bool is_unmovable(ZydisMnemonic mnemonic)
{
	for (size_t i = 0; i < ARRAY_SIZE(unmovable); i++)
		if (unmovable[i] == mnemonic)
			return true;
	return false;
}

static bool touches_memory(const struct insn *insn)
{
	switch ((enum x86_kind)insn->op.kind) {
	case X86_PUSH:
	case X86_POP:
	case X86_LEAVE:
		return true;
	case X86_ADDRESS:
		return false;
	default:
		return insn->op.reg == X86_MEMORY ||
		       insn->op.source == X86_MEMORY;
	}
}

/* A jump that is not relative does the same from anywhere. */
static bool is_movable(const struct x86_decoding *d)
{
	switch (d->zydis.meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
		return false;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return d->zydis.mnemonic == ZYDIS_MNEMONIC_JMP &&
		       x86_is_near(d) &&
		       d->operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY;
	default:
		return !is_unmovable(d->zydis.mnemonic);
	}
}

static bool uses_ip(const struct x86_decoding *d)
{
	for (unsigned i = 0; i < d->zydis.operand_count_visible; i++)
		if (d->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    x86_is_ip(d->operands[i].mem.base))
			return true;
	return false;
}

/* Copies cost the tracer nothing; memory costs it a system call. */
static enum insn_way choose_way(const struct x86_decoding *d)
{
	const struct insn *insn = d->insn;

	if (insn->emulable && x86_jumps_through_memory(insn))
		return INSN_RELOCATE;
	if (insn->emulable &&
	    (x86_kind_branches(insn->op.kind) || !touches_memory(insn)))
		return INSN_EMULATE;
	return is_movable(d) ? INSN_RELOCATE : INSN_STEP;
}

static void insn_init(struct insn *insn, taddr_t address, const uint8_t *code,
		      uint8_t length)
{
	memset(insn, 0, sizeof(*insn));
	insn->address = address;
	insn->length = length;
	memcpy(insn->bytes, code, length);
	insn->op.reg = X86_NONE;
	insn->op.source = X86_NONE;
	insn->op.base = X86_NONE;
	insn->op.index = X86_NONE;
}

int x86_ask_zydis(struct x86_decoding *d, const uint8_t *code, size_t n)
{
	ZydisDecoder decoder;
	ZyanStatus status;

	if (d->word_size == 8)
		status = ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
					  ZYDIS_STACK_WIDTH_64);
	else
		status = ZydisDecoderInit(&decoder,
					  ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
					  ZYDIS_STACK_WIDTH_32);
	if (!ZYAN_SUCCESS(status))
		return -EILSEQ;
	status = ZydisDecoderDecodeFull(&decoder, code, n, &d->zydis,
					d->operands);
	return ZYAN_SUCCESS(status) ? 0 : -EILSEQ;
}

int x86_insn_decode(unsigned word_size, taddr_t address, const uint8_t *code,
		    size_t n, struct insn *ret)
{
	struct x86_decoding d = { .word_size = word_size, .insn = ret };
	int err = x86_ask_zydis(&d, code, n);

	if (err)
		return err;
	insn_init(ret, address, code, d.zydis.length);
	ret->emulable = x86_operands_take(&d);
	if (!ret->emulable)
		ret->op.kind = X86_OTHER;
	ret->pushes_or_pops_return =
		d.zydis.meta.category == ZYDIS_CATEGORY_CALL ||
		d.zydis.meta.category == ZYDIS_CATEGORY_RET;
	ret->near = uses_ip(&d);
	ret->op.relative = ret->near ? d.zydis.raw.disp.offset : 0;
	ret->way = choose_way(&d);
	return 0;
}
