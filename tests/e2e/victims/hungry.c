/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preloaded: there is no memory as soon as the file $HUNGRY exists. */

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static int is_hungry(void)
{
	int saved = errno, hungry;
	const char *path = getenv("HUNGRY");

	hungry = path && !access(path, F_OK);
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
