/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "torture.h"

#include <setjmp.h>
#include <string.h>

struct jump {
	struct stream *stream;
	sigjmp_buf place;
	unsigned depth;
};

static __thread struct jump *current;

static void deeper(void *context)
{
	struct jump *jump = context;

	call(jump->stream, DATA);
	if (jump->depth--)
		call_through(jump->stream, deeper, jump);
	else
		siglongjmp(jump->place, 7);
}

static void on_signal(int signal)
{
	if (signal == SIGUSR1)
		siglongjmp(current->place, 7);
}

/* A signal that is raised here and now, and never comes back. */
static void out_of_handler(void *context)
{
	struct jump *jump = context;

	current = jump;
	raise(SIGUSR1);
	fail("the signal did not jump");
}

void do_jump(struct worker *worker)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct jump jump = { .stream = worker->stream,
			     .depth = random_below(&worker->random, 5) };
	bool by_signal = random_below(&worker->random, 2);
	int value;

	sigfillset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	value = sigsetjmp(jump.place, 1);
	if (!value)
		call_through(worker->stream,
			     by_signal ? out_of_handler : deeper, &jump);
	if (value != 7)
		fail("longjmp brought %d", value);
	call(worker->stream, LEAF);
}
