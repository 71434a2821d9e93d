/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/inheritance.h"

#include <stdbool.h>
#include <stddef.h>

void inheritance_save(struct inheritance *ret)
{
	struct sigaction action;
	int signal;

	sigprocmask(SIG_SETMASK, NULL, &ret->blocked);
	sigemptyset(&ret->ignored);
	for (signal = 1; signal < NSIG; signal++)
		if (!sigaction(signal, NULL, &action) &&
		    action.sa_handler == SIG_IGN)
			sigaddset(&ret->ignored, signal);
	if (getrlimit(RLIMIT_NOFILE, &ret->files))
		ret->files = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
}

/* Fails for those that can't be ignored, and those of the C library. */
static void restore_actions(const struct inheritance *inheritance)
{
	int signal;

	for (signal = 1; signal < NSIG; signal++) {
		bool ignored = sigismember(&inheritance->ignored, signal) == 1;
		struct sigaction action = {
			.sa_handler = ignored ? SIG_IGN : SIG_DFL,
		};

		(void)sigaction(signal, &action, NULL);
	}
}

void inheritance_restore(const struct inheritance *inheritance)
{
	restore_actions(inheritance);
	(void)setrlimit(RLIMIT_NOFILE, &inheritance->files);
	sigprocmask(SIG_SETMASK, &inheritance->blocked, NULL);
}
