/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/crash.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/signal_bit.h"
#include "base/types.h"
#include "base/xalloc.h"

/* For the hook; besides, the kernel saves all registers there. */
#define ROOM 65536

static const int crashes[] = { CRASH_SIGNALS };

/*
 * Raised once more, since it may have been sent by somebody. Until then others
 * may crash as well, and the one that traces is told so (xalloc.h).
 */
static void on_crash(int number)
{
	static const char text[] = "calltrap: internal error: a crash\n";

	if (fatal_run_hook() &&
	    write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_FAILURE);
	signal(number, SIG_DFL);
	raise(number);
}

static bool is_taken(int signal)
{
	struct sigaction action;

	return sigaction(signal, NULL, &action) || action.sa_handler != SIG_DFL;
}

void crash_prepare(void)
{
	const struct sigaction action = {
		.sa_handler = on_crash,
		.sa_flags = SA_ONSTACK | SA_NODEFER,
	};
	size_t size = ROOM + sysconf(_SC_MINSIGSTKSZ);
	const stack_t stack = { .ss_sp = xmalloc(size), .ss_size = size };
	size_t i;

	sigaltstack(&stack, NULL);
	for (i = 0; i < ARRAY_SIZE(crashes); i++)
		if (!is_taken(crashes[i]))
			sigaction(crashes[i], &action, NULL);
}

void crash_done(void)
{
	const stack_t none = { .ss_flags = SS_DISABLE };
	stack_t stack;

	if (sigaltstack(&none, &stack))
		return;
	if (!(stack.ss_flags & SS_DISABLE))
		free(stack.ss_sp);
}
