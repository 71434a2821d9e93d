/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/aarch64/insn.h"

#include <errno.h>

#include "sysdeps/aarch64/registers.h"

enum { SIZE = 4 };

#define FLAG_N (UINT64_C(1) << 31)
#define FLAG_Z (UINT64_C(1) << 30)
#define FLAG_C (UINT64_C(1) << 29)
#define FLAG_V (UINT64_C(1) << 28)

static bool signs_differ(uint64_t flags)
{
	return !(flags & FLAG_N) != !(flags & FLAG_V);
}

/* C1.2.4: bit 0 turns a condition around, but for the last two. */
static bool holds(unsigned condition, uint64_t flags)
{
	bool is = true;

	switch (condition >> 1) {
	case 0: /* eq */
		is = flags & FLAG_Z;
		break;
	case 1: /* cs */
		is = flags & FLAG_C;
		break;
	case 2: /* mi */
		is = flags & FLAG_N;
		break;
	case 3: /* vs */
		is = flags & FLAG_V;
		break;
	case 4: /* hi */
		is = flags & FLAG_C && !(flags & FLAG_Z);
		break;
	case 5: /* ge */
		is = !signs_differ(flags);
		break;
	case 6: /* gt */
		is = !signs_differ(flags) && !(flags & FLAG_Z);
		break;
	case 7: /* al, both of them */
		return true;
	}
	return is != (condition & 1);
}

static int load(const struct insn *insn, struct regs *regs,
		struct memory *memory)
{
	uint64_t value = 0;
	int err = memory_read(memory, (taddr_t)insn->op.immediate, &value,
			      insn->op.size);

	if (err)
		return err;
	if (insn->op.source_size)
		value = (uint64_t)(int64_t)(int32_t)value;
	aarch64_register_set(regs, insn->op.reg, value);
	return 0;
}

static void move(const struct insn *insn, struct regs *regs)
{
	const uint64_t kept =
		insn->op.source ? ~(UINT64_C(0xffff) << insn->op.scale) : 0;

	aarch64_register_set(regs, insn->op.reg,
			     (aarch64_register_get(regs, insn->op.reg) & kept) |
				     (uint64_t)insn->op.immediate
					     << insn->op.scale);
}

/* Where 31 is the stack pointer. */
static uint64_t base(const struct insn *insn, const struct regs *regs)
{
	return insn->op.base == AARCH64_ZERO ? regs->user.sp :
					       regs->user.regs[insn->op.base];
}

static int load_at(const struct insn *insn, struct regs *regs,
		   struct memory *memory)
{
	uint64_t value;
	int err = memory_read(memory, base(insn, regs) + insn->op.displacement,
			      &value, sizeof(value));

	if (!err)
		aarch64_register_set(regs, insn->op.reg, value);
	return err;
}

static void add_immediate(const struct insn *insn, struct regs *regs)
{
	const uint64_t number = insn->op.displacement;
	const uint64_t sum =
		base(insn, regs) + (insn->op.source ? -number : number);

	if (insn->op.reg == AARCH64_ZERO)
		regs->user.sp = sum;
	else
		regs->user.regs[insn->op.reg] = sum;
}

static void add(const struct insn *insn, struct regs *regs)
{
	const uint64_t number = aarch64_register_get(regs, insn->op.index)
				<< insn->op.scale;

	aarch64_register_set(regs, insn->op.reg,
			     aarch64_register_get(regs, insn->op.base) +
				     (insn->op.source ? -number : number));
}

static bool branches(const struct insn *insn, const struct regs *regs)
{
	uint64_t value = aarch64_register_get(regs, insn->op.reg);

	switch ((enum aarch64_kind)insn->op.kind) {
	case AARCH64_B_IF:
		return holds(insn->op.condition, regs->user.pstate);
	case AARCH64_CBZ:
		if (insn->op.size == 4)
			value = (uint32_t)value;
		return (value != 0) == (bool)insn->op.source;
	case AARCH64_TBZ:
		return (value >> insn->op.condition & 1) ==
		       (uint64_t)insn->op.source;
	default:
		return true;
	}
}

/*
 * A jump to an address that no program has (a pointer with a bad signature, or
 * 0) is left to the processor.
 */
static int go_to_register(const struct insn *insn, struct regs *regs,
			  taddr_t *next)
{
	*next = aarch64_register_get(regs, insn->op.reg);
	if (insn->op.reg == AARCH64_ZERO || *next >> 48 || *next % SIZE)
		return -EFAULT;
	return 0;
}

int aarch64_insn_emulate(const struct insn *insn, struct regs *regs,
			 struct memory *memory)
{
	const taddr_t behind = insn->address + SIZE;
	taddr_t next = behind;
	int err = 0;

	switch ((enum aarch64_kind)insn->op.kind) {
	case AARCH64_NOP:
	case AARCH64_PREFETCH:
		break;
	case AARCH64_ADDRESS:
		aarch64_register_set(regs, insn->op.reg,
				     (uint64_t)insn->op.immediate);
		break;
	case AARCH64_LOAD:
		err = load(insn, regs, memory);
		break;
	case AARCH64_MOVE:
		move(insn, regs);
		break;
	case AARCH64_THREAD:
		aarch64_register_set(regs, insn->op.reg, regs->thread);
		break;
	case AARCH64_LOAD_AT:
		err = load_at(insn, regs, memory);
		break;
	case AARCH64_ADD_IMMEDIATE:
		add_immediate(insn, regs);
		break;
	case AARCH64_ADD:
		add(insn, regs);
		break;
	case AARCH64_B:
	case AARCH64_BL:
	case AARCH64_B_IF:
	case AARCH64_CBZ:
	case AARCH64_TBZ:
		if (branches(insn, regs))
			next = (taddr_t)insn->op.immediate;
		break;
	case AARCH64_BR:
	case AARCH64_BLR:
	case AARCH64_RET:
		err = go_to_register(insn, regs, &next);
		break;
	case AARCH64_OTHER:
	case AARCH64_LOAD_WIDE:
	case AARCH64_RET_SIGNED:
		err = -EINVAL;
	}
	if (err)
		return err;
	if (insn->op.kind == AARCH64_BL || insn->op.kind == AARCH64_BLR)
		regs->user.regs[AARCH64_LINK] = behind;
	aarch64_go(regs, next);
	return 0;
}
