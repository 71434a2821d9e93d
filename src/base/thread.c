/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/thread.h"

#include <alloca.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/signal_bit.h"

/* For the fatal hook; besides, the kernel saves all registers there. */
#define CRASH_ROOM 16384

struct thread_start {
	void *(*run)(void *context);
	void *context;
};

static size_t crash_stack_size(void)
{
	return CRASH_ROOM + sysconf(_SC_MINSIGSTKSZ);
}

/* Else sanitizers take it for theirs. */
static void give_up_stack(void *context UNUSED)
{
	const stack_t none = { .ss_flags = SS_DISABLE };

	sigaltstack(&none, NULL);
}

/* Where its own stack begins: who overflows that is at its other end. */
static void *run_thread(void *context)
{
	const struct thread_start start = *(struct thread_start *)context;
	const stack_t stack = { .ss_sp = alloca(crash_stack_size()),
				.ss_size = crash_stack_size() };
	void *result;

	free(context);
	sigaltstack(&stack, NULL);
	pthread_cleanup_push(give_up_stack, NULL);
	result = start.run(start.context);
	pthread_cleanup_pop(true);
	return result;
}

static void fill_mask(sigset_t *mask)
{
	static const int crashes[] = { CRASH_SIGNALS };

	sigfillset(mask);
	for (size_t i = 0; i < ARRAY_SIZE(crashes); i++)
		sigdelset(mask, crashes[i]);
}

static size_t size_of_stack(const pthread_attr_t *attr, size_t wanted)
{
	size_t size = wanted;

	if (!size)
		(void)pthread_attr_getstacksize(attr, &size);
	return size + crash_stack_size();
}

int thread_begin(pthread_t *ret, size_t stack_size, void *(*run)(void *),
		 void *context)
{
	struct thread_start *start = malloc(sizeof(*start));
	pthread_attr_t attr;
	sigset_t mask;
	int error;

	if (!start)
		return ENOMEM;
	*start = (struct thread_start){ .run = run, .context = context };
	fill_mask(&mask);
	pthread_attr_init(&attr);
	pthread_attr_setsigmask_np(&attr, &mask);
	pthread_attr_setstacksize(&attr, size_of_stack(&attr, stack_size));
	error = pthread_create(ret, &attr, run_thread, start);
	pthread_attr_destroy(&attr);
	if (error)
		free(start);
	return error;
}
