/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/clone.h"

#include <sched.h>

/* Where a mode keeps numbers and the first argument of its system calls. */
enum call {
	CALL_NONE,
	CALL_FORK,
	CALL_VFORK,
	CALL_CLONE,
	CALL_CLONE3,
};

static enum call call_of_x86_64(long number)
{
	switch (number) {
	case 56:
		return CALL_CLONE;
	case 57:
		return CALL_FORK;
	case 58:
		return CALL_VFORK;
	case 435:
		return CALL_CLONE3;
	default:
		return CALL_NONE;
	}
}

static enum call call_of_i386(long number)
{
	switch (number) {
	case 2:
		return CALL_FORK;
	case 120:
		return CALL_CLONE;
	case 190:
		return CALL_VFORK;
	case 435:
		return CALL_CLONE3;
	default:
		return CALL_NONE;
	}
}

bool clone_is_call(long number)
{
	return call_of_x86_64(number) || call_of_i386(number);
}

/* Where struct clone_args has .stack; .flags comes first (clone(2)). */
#define STACK_WORD 5

bool clone_sharing_of(const struct regs *regs, struct memory *memory,
		      struct clone_sharing *ret)
{
	bool is_32 = arch_of_regs(regs) == &arch_i386;
	long number = (long)regs->user.orig_rax;
	uint64_t argument = is_32 ? (uint32_t)regs->user.rbx : regs->user.rdi;
	uint64_t flags = 0, stack = 0, words[STACK_WORD + 1];

	switch (is_32 ? call_of_i386((int32_t)number) :
			call_of_x86_64(number)) {
	case CALL_FORK:
		break;
	case CALL_VFORK:
		flags = CLONE_VM;
		break;
	case CALL_CLONE:
		flags = argument;
		stack = is_32 ? (uint32_t)regs->user.rcx : regs->user.rsi;
		break;
	case CALL_CLONE3:
		if (memory_read(memory, argument, words, sizeof(words)))
			return false;
		flags = words[0];
		stack = words[STACK_WORD];
		break;
	case CALL_NONE:
		return false;
	}
	*ret = (struct clone_sharing){ flags & CLONE_THREAD, flags & CLONE_VM,
				       !stack };
	return true;
}
