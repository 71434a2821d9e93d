/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/inheritance.h"

#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The kernel's, on x86_64. The C library's functions don't speak of signals 32
 * and 33, which it uses itself, and which a shell may have been started with
 * as ignored.
 */
struct kernel_action {
	void (*handler)(int signal);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static bool get_action(int signal, struct kernel_action *ret)
{
	return !syscall(SYS_rt_sigaction, signal, NULL, ret, sizeof(ret->mask));
}

void inheritance_save(struct inheritance *ret)
{
	struct kernel_action action;
	int signal;

	sigprocmask(SIG_SETMASK, NULL, &ret->blocked);
	ret->ignored = 0;
	for (signal = 1; signal < NSIG; signal++)
		if (get_action(signal, &action) && action.handler == SIG_IGN)
			ret->ignored |= 1ull << (signal - 1);
	if (getrlimit(RLIMIT_NOFILE, &ret->files))
		ret->files = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
}

/* Fails for those that can't be ignored. */
static void restore_actions(const struct inheritance *inheritance)
{
	int signal;

	for (signal = 1; signal < NSIG; signal++) {
		bool ignored = inheritance->ignored >> (signal - 1) & 1;
		const struct kernel_action action = {
			.handler = ignored ? SIG_IGN : SIG_DFL,
		};

		(void)syscall(SYS_rt_sigaction, signal, &action, NULL,
			      sizeof(action.mask));
	}
}

void inheritance_restore(const struct inheritance *inheritance)
{
	restore_actions(inheritance);
	(void)setrlimit(RLIMIT_NOFILE, &inheritance->files);
	sigprocmask(SIG_SETMASK, &inheritance->blocked, NULL);
}
