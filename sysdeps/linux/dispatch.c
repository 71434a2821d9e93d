/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/dispatch.h"

#include <stdint.h>
#include <sys/ptrace.h>

/* C libraries may not know it yet. */
#define GET_SYSCALL_USER_DISPATCH_CONFIG 0x4211

struct dispatch_configuration {
	uint64_t mode; /* 0: off */
	uint64_t selector, offset, length;
};

bool dispatch_is_on(pid_t tid)
{
	struct dispatch_configuration dispatch = { .mode = 0 };

	return !ptrace((enum __ptrace_request)GET_SYSCALL_USER_DISPATCH_CONFIG,
		       tid, sizeof(dispatch), &dispatch) &&
	       dispatch.mode;
}
