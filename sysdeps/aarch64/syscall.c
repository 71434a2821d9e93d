/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "sysdeps/aarch64/convention.h"

/* syscall(2), "Architecture calling conventions": x0 to x5, and x8. */

enum { ARGUMENTS = 6, NUMBER = 8 };

static void begin(const struct regs *regs UNUSED,
		  const struct flat_value *result UNUSED,
		  struct argument_cursor *ret)
{
	*ret = (struct argument_cursor){ 0 };
}

static void found(uint64_t value, struct passed *ret)
{
	*ret = (struct passed){ 0 };
	memcpy(ret->bytes, &value, sizeof(value));
}

static int argument(struct argument_cursor *cursor, const struct regs *regs,
		    const struct fp_regs *fp UNUSED,
		    struct memory *memory UNUSED,
		    const struct flat_value *value UNUSED, bool variadic UNUSED,
		    struct passed *ret)
{
	if (cursor->integers >= ARGUMENTS)
		return -ENODATA;
	found(regs->user.regs[cursor->integers++], ret);
	return 0;
}

static int result(const struct regs *entry UNUSED, const struct regs *regs,
		  const struct fp_regs *fp UNUSED, struct memory *memory UNUSED,
		  const struct flat_value *value UNUSED, struct passed *ret)
{
	found(regs->user.regs[0], ret);
	return 0;
}

static bool needs_fp(const struct flat_value *value UNUSED,
		     bool as_result UNUSED)
{
	return false;
}

static bool variadic_needs_fp(const struct regs *regs UNUSED)
{
	return false;
}

const struct convention aarch64_syscall_convention = {
	.begin = begin,
	.argument = argument,
	.result = result,
	.needs_fp = needs_fp,
	.variadic_needs_fp = variadic_needs_fp,
};

uint64_t aarch64_syscall_number(const struct regs *regs)
{
	return regs->user.regs[NUMBER];
}
