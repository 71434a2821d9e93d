/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/syscall_maker.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#include "sysdeps/aarch64/registers.h"

enum { ARGUMENTS = 4, OPERATION = 1, TIMEOUT = 3 };

static void prepare(struct regs *regs, taddr_t address, uint64_t number,
		    const uint64_t arguments[ARGUMENTS])
{
	aarch64_go(regs, address);
	memcpy(regs->user.regs, arguments, ARGUMENTS * sizeof(*arguments));
	regs->user.regs[AARCH64_NUMBER] = number;
}

/* When it is stopped, the kernel has wound it back to before the call. */
static bool is_in_call(const struct regs *regs UNUSED)
{
	return false;
}

/*
 * A call that is made again from its beginning is the same, but for those that
 * wait for a length of time: the kernel itself would make restart_syscall(2) of
 * them, which knows how much is left, but not for who is sent elsewhere in
 * between; and no register shows that it was about to.
 */
static bool goes_on(const struct regs *regs)
{
	switch (regs->user.regs[AARCH64_NUMBER]) {
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_restart_syscall:
		return false;
	case SYS_futex:
		return (regs->user.regs[OPERATION] & FUTEX_CMD_MASK) !=
			       FUTEX_WAIT ||
		       !regs->user.regs[TIMEOUT];
	default:
		return true;
	}
}

const struct syscall_maker arch_syscall_maker = {
	.code = { 0x01, 0x00, 0x00, 0xd4 }, /* svc #0 */
	.size = 4,
	.align = 4,
	.prepare = prepare,
	.is_in_call = is_in_call,
	.goes_on = goes_on,
};
