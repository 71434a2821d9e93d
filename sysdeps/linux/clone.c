/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/clone.h"

#include <sched.h>
#include <string.h>

bool clone_is_call(long number)
{
	for (size_t i = 0; arch_ports[i]; i++)
		if (arch_ports[i]->child_call(number))
			return true;
	return false;
}

static uint64_t argument(const struct arch_ops *arch, const struct regs *regs,
			 unsigned index)
{
	const struct convention *convention = arch->syscall_convention;
	const struct flat_value word = { .size = arch->word_size };
	struct argument_cursor cursor;
	struct passed passed = { 0 };
	uint64_t value = 0;

	convention->begin(regs, NULL, &cursor);
	for (unsigned i = 0; i <= index; i++)
		if (convention->argument(&cursor, regs, NULL, NULL, &word,
					 false, &passed))
			return 0;
	memcpy(&value, passed.bytes, arch->word_size);
	return value;
}

/* Where struct clone_args has .stack; .flags comes first (clone(2)). */
#define STACK_WORD 5

bool clone_sharing_of(const struct regs *regs, struct memory *memory,
		      struct clone_sharing *ret)
{
	const struct arch_ops *arch = arch_of_regs(regs);
	uint64_t flags = 0, stack = 0, words[STACK_WORD + 1];

	if (!arch)
		return false;
	switch (arch->child_call(arch->syscall_number(regs))) {
	case CHILD_CALL_FORK:
		break;
	case CHILD_CALL_VFORK:
		flags = CLONE_VM;
		break;
	case CHILD_CALL_CLONE:
		flags = argument(arch, regs, 0);
		stack = argument(arch, regs, 1);
		break;
	case CHILD_CALL_CLONE3:
		if (memory_read(memory, argument(arch, regs, 0), words,
				sizeof(words)))
			return false;
		flags = words[0];
		stack = words[STACK_WORD];
		break;
	case CHILD_CALL_NONE:
		return false;
	}
	*ret = (struct clone_sharing){ flags & CLONE_THREAD, flags & CLONE_VM,
				       !stack };
	return true;
}
