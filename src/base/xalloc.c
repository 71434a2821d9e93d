/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/xalloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	void (*run)(void *context);
	void *context;
} hook;

void fatal_set_hook(void (*run)(void *context), void *context)
{
	hook.run = run;
	hook.context = context;
}

bool fatal_run_hook(void)
{
	void (*run)(void *) = hook.run;

	/* A failure inside the hook must not call it again. */
	hook.run = NULL;
	if (run)
		run(hook.context);
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
