/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded: as soon as the file $HUNGRY exists there is no memory, or, as
 * $HUNGRY_WAY says, malloc() does what it should not; with $HUNGRY_BESIDE only
 * in threads that other signals aren't for.
 */

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static int overflow(volatile int *depth)
{
	volatile int here = *depth + 1;

	return overflow(&here) + here;
}

static void misbehave(const char *way)
{
	volatile int zero = 0;

	if (!strcmp(way, "wild pointer"))
		*(volatile int *)8 = 1;
	else if (!strcmp(way, "division"))
		zero = 7 / zero;
	else if (!strcmp(way, "overflow"))
		overflow(&zero);
	else if (!strcmp(way, "abort"))
		abort();
}

static int is_anywhere(void)
{
	sigset_t blocked;

	return !getenv("HUNGRY_BESIDE") ||
	       (!pthread_sigmask(SIG_SETMASK, NULL, &blocked) &&
		sigismember(&blocked, SIGTERM));
}

static int is_hungry(void)
{
	int saved = errno, hungry;
	const char *path = getenv("HUNGRY"), *way = getenv("HUNGRY_WAY");

	hungry = path && !access(path, F_OK) && is_anywhere();
	if (hungry && way)
		misbehave(way);
	errno = hungry ? ENOMEM : saved;
	return hungry;
}

void *malloc(size_t size)
{
	return is_hungry() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return is_hungry() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return is_hungry() ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, total);
}
