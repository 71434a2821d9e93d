/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86/insn.h"

#include <errno.h>

#include "sysdeps/x86/alu.h"
#include "sysdeps/x86/registers.h"

/*
 * An instruction under way. It works on a copy of the registers, which is
 * only handed out when all went well; memory is written last.
 */
struct machine {
	const struct insn *insn;
	struct memory *memory;
	unsigned word_size;
	struct regs regs;
};

static taddr_t effective_address(const struct machine *m)
{
	const struct insn *insn = m->insn;
	taddr_t address = (taddr_t)insn->op.displacement;

	if (insn->op.base != X86_NONE)
		address += x86_register_get(&m->regs, insn->op.base, 8);
	if (insn->op.index != X86_NONE)
		address += x86_register_get(&m->regs, insn->op.index, 8) *
			   insn->op.scale;
	return x86_truncate(address, m->word_size);
}

static taddr_t segment_base(const struct machine *m)
{
	switch (m->insn->op.segment) {
	case X86_FS:
		return m->regs.user.fs_base;
	case X86_GS:
		return m->regs.user.gs_base;
	default:
		return 0;
	}
}

/* Nothing can be reached through a selector of nothing (but with 64 bits). */
static bool is_null_segment(const struct machine *m)
{
	unsigned long long selector = m->insn->op.segment == X86_FS ?
					      m->regs.user.fs :
					      m->regs.user.gs;

	return m->word_size == 4 && m->insn->op.segment != X86_FLAT &&
	       !(selector & ~3ull);
}

static int memory_operand(const struct machine *m, taddr_t *ret)
{
	if (is_null_segment(m))
		return -EFAULT;
	*ret = x86_truncate(effective_address(m) + segment_base(m),
			    m->word_size);
	return 0;
}

static int operand_get(const struct machine *m, int operand, unsigned size,
		       uint64_t *ret)
{
	uint64_t value = 0;
	taddr_t address;
	int err = 0;

	if (operand == X86_MEMORY) {
		err = memory_operand(m, &address);
		if (!err)
			err = memory_read(m->memory, address, &value, size);
	} else if (operand == X86_IMMEDIATE) {
		value = (uint64_t)m->insn->op.immediate;
	} else {
		value = x86_register_get(&m->regs, operand, size);
	}
	if (!err)
		*ret = value;
	return err;
}

static int operand_set(struct machine *m, int operand, unsigned size,
		       uint64_t value)
{
	taddr_t address;
	int err;

	if (operand == X86_MEMORY) {
		err = memory_operand(m, &address);
		return err ? err :
			     memory_write(m->memory, address, &value, size);
	}
	x86_register_set(&m->regs, operand, size, value);
	return 0;
}

static int source_get(const struct machine *m, uint64_t *ret)
{
	return operand_get(m, m->insn->op.source, m->insn->op.source_size, ret);
}

static taddr_t stack_pointer(const struct machine *m)
{
	return x86_register_get(&m->regs, X86_RSP, m->word_size);
}

static void stack_pointer_set(struct machine *m, taddr_t value)
{
	x86_register_set(&m->regs, X86_RSP, m->word_size, value);
}

static int push(struct machine *m, uint64_t value)
{
	taddr_t sp =
		x86_truncate(stack_pointer(m) - m->word_size, m->word_size);

	stack_pointer_set(m, sp);
	return memory_write(m->memory, sp, &value, m->word_size);
}

static int pop(struct machine *m, uint64_t *ret)
{
	taddr_t sp = stack_pointer(m);
	int err = memory_read_word(m->memory, sp, m->word_size, ret);

	stack_pointer_set(m, sp + m->word_size);
	return err;
}

/*
 * A branch to a non-canonical address faults before it is taken, so that is
 * left to the processor; with five-level page tables, so are a few good ones.
 */
static int check_target(const struct machine *m, taddr_t target)
{
	return m->word_size == 8 && target >> 47 ? -EFAULT : 0;
}

static int go(struct machine *m, taddr_t target)
{
	m->regs.user.rip = target;
	return check_target(m, target);
}

static int move(struct machine *m)
{
	const struct insn *insn = m->insn;
	uint64_t value;
	int err = source_get(m, &value);

	if (err)
		return err;
	if (insn->op.kind == X86_SIGN_EXTEND)
		value = x86_sign_extend(value, insn->op.source_size);
	return operand_set(m, insn->op.reg, insn->op.size, value);
}

/* The source is read in any case, and a target of half a word widened. */
static int move_if(struct machine *m)
{
	const struct insn *insn = m->insn;
	const bool holds =
		x86_condition(insn->op.condition, m->regs.user.eflags);
	uint64_t value;
	int err = source_get(m, &value);

	if (!err && !holds)
		err = operand_get(m, insn->op.reg, insn->op.size, &value);
	return err ? err : operand_set(m, insn->op.reg, insn->op.size, value);
}

static int calculate(struct machine *m)
{
	const struct insn *insn = m->insn;
	uint64_t eflags = m->regs.user.eflags;
	uint64_t a, b;
	int err = operand_get(m, insn->op.reg, insn->op.size, &a);

	if (!err)
		err = source_get(m, &b);
	if (err)
		return err;
	a = x86_alu(insn->op.kind, a, b, insn->op.size, &eflags);
	m->regs.user.eflags = eflags;
	if (insn->op.kind == X86_COMPARE || insn->op.kind == X86_TEST)
		return 0;
	return operand_set(m, insn->op.reg, insn->op.size, a);
}

static int do_push(struct machine *m)
{
	uint64_t value;
	int err = source_get(m, &value);

	return err ? err : push(m, value);
}

/* In this order: pop %rsp ends with what was popped. */
static int do_pop(struct machine *m)
{
	uint64_t value;
	int err = pop(m, &value);

	return err ? err : operand_set(m, m->insn->op.reg, m->word_size, value);
}

static int do_leave(struct machine *m)
{
	uint64_t value;
	int err;

	stack_pointer_set(m, x86_register_get(&m->regs, X86_RBP, m->word_size));
	err = pop(m, &value);
	if (!err)
		x86_register_set(&m->regs, X86_RBP, m->word_size, value);
	return err;
}

static int do_call(struct machine *m)
{
	taddr_t back = m->regs.user.rip;
	uint64_t target;
	int err = source_get(m, &target);

	if (!err)
		err = go(m, target);
	return err ? err : push(m, back);
}

static int do_return(struct machine *m)
{
	uint64_t target;
	int err = pop(m, &target);

	if (err)
		return err;
	stack_pointer_set(m,
			  stack_pointer(m) + (uint64_t)m->insn->op.immediate);
	return go(m, target);
}

static int do_jump(struct machine *m)
{
	uint64_t target;
	int err = source_get(m, &target);

	return err ? err : go(m, target);
}

static int jump_if(struct machine *m, bool condition)
{
	return condition ? do_jump(m) : 0;
}

static int do_loop(struct machine *m)
{
	const struct insn *insn = m->insn;
	uint64_t count = x86_register_get(&m->regs, X86_RCX, insn->op.size);
	bool zero = x86_flag_zero(m->regs.user.eflags);
	bool again = true;

	count = x86_truncate(count - 1, insn->op.size);
	x86_register_set(&m->regs, X86_RCX, insn->op.size, count);
	if (insn->op.condition == X86_LOOP_EQUAL)
		again = zero;
	else if (insn->op.condition == X86_LOOP_NOT_EQUAL)
		again = !zero;
	return jump_if(m, count && again);
}

static int execute(struct machine *m)
{
	const struct insn *insn = m->insn;

	switch ((enum x86_kind)insn->op.kind) {
	case X86_OTHER:
		return -EINVAL;
	case X86_NOP:
		return 0;
	case X86_MOVE:
	case X86_SIGN_EXTEND:
		return move(m);
	case X86_MOVE_IF:
		return move_if(m);
	case X86_ADDRESS:
		return operand_set(m, insn->op.reg, insn->op.size,
				   effective_address(m));
	case X86_ADD:
	case X86_SUB:
	case X86_AND:
	case X86_OR:
	case X86_XOR:
	case X86_COMPARE:
	case X86_TEST:
		return calculate(m);
	case X86_PUSH:
		return do_push(m);
	case X86_POP:
		return do_pop(m);
	case X86_LEAVE:
		return do_leave(m);
	case X86_CALL:
		return do_call(m);
	case X86_RETURN:
		return do_return(m);
	case X86_JUMP:
		return do_jump(m);
	case X86_JUMP_IF:
		return jump_if(m, x86_condition(insn->op.condition,
						m->regs.user.eflags));
	case X86_JUMP_ZERO:
		return jump_if(m, !x86_register_get(&m->regs, X86_RCX,
						    insn->op.size));
	case X86_LOOP:
		return do_loop(m);
	}
	return -EINVAL;
}

int x86_insn_emulate(unsigned word_size, const struct insn *insn,
		     struct regs *regs, struct memory *memory)
{
	struct machine m = {
		.insn = insn,
		.memory = memory,
		.word_size = word_size,
		.regs = *regs,
	};
	int err;

	m.regs.user.rip = x86_truncate(insn->address + insn->length, word_size);
	err = execute(&m);
	if (!err)
		*regs = m.regs;
	return err;
}
