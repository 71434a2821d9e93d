/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/xalloc.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* A thread that takes no signals for so long won't run the hook. */
#define PATIENCE (5 * NS_PER_SECOND)
#define MOMENT   (NS_PER_SECOND / 1000)

static struct {
	void (*run)(void *context);
	void *context;
	pthread_t owner;
	/* Between threads: */
	_Atomic bool asked, begun, done;
} hook;

void fatal_set_hook(void (*run)(void *context), void *context)
{
	hook.owner = pthread_self();
	hook.run = run;
	hook.context = context;
}

/* Nothing but the hook ends this wait once it has begun. */
static bool have_it_run(void)
{
	const struct timespec moment = { .tv_nsec = MOMENT };
	const uint64_t deadline = clock_now() + PATIENCE;

	if (!hook.run && !hook.begun)
		return false;
	hook.asked = true;
	if (!hook.begun && pthread_kill(hook.owner, SIGABRT))
		return false;
	while (!hook.done && (hook.begun || clock_now() < deadline))
		nanosleep(&moment, NULL);
	return hook.done;
}

bool fatal_run_hook(void)
{
	void (*run)(void *) = hook.run;

	if (!pthread_equal(pthread_self(), hook.owner))
		return have_it_run();
	/* A failure inside the hook must not call it again. */
	hook.run = NULL;
	hook.begun = true;
	if (run)
		run(hook.context);
	hook.done = true;
	/* It goes on no more: who has asked ends the process. */
	while (hook.asked)
		pause();
	return run;
}

void fatal(const char *format, ...)
{
	va_list args;

	(void)fatal_run_hook();
	fputs("calltrap: internal error: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		fatal("out of memory (%zu bytes)", size);
	return p;
}

void *xcalloc(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);

	if (!p)
		fatal("out of memory (%zu x %zu bytes)", count, size);
	return p;
}

void *xreallocarray(void *old, size_t count, size_t size)
{
	void *p = reallocarray(old, count ? count : 1, size ? size : 1);

	if (!p)
		fatal("out of memory (%zu x %zu bytes)", count, size);
	return p;
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *xstrndup(const char *s, size_t n)
{
	size_t length = strnlen(s, n);
	char *copy = xmalloc(length + 1);

	memcpy(copy, s, length);
	copy[length] = '\0';
	return copy;
}

char *xasprintf(const char *format, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		fatal("out of memory (formatting a text)");
	return text;
}

void *xgrow(void *items, size_t n, size_t *room, size_t size)
{
	if (n < *room)
		return items;
	*room = *room ? *room * 2 : 8;
	return xreallocarray(items, *room, size);
}

void xfree_cleanup(void *pointer_to_pointer)
{
	free(*(void **)pointer_to_pointer);
}
