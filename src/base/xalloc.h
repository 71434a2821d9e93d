/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_XALLOC_H
#define CALLTRAP_XALLOC_H

#include <stdbool.h>

#include "base/types.h"

/*
 * Allocation that never fails: when memory runs out the fatal hook is called,
 * which detaches from every process, and calltrap ends. Sizes that come from
 * a file or a tracee are checked by the caller before they get here.
 */
void *xmalloc(size_t size) MUST_CHECK __attribute__((malloc));
void *xcalloc(size_t count, size_t size) MUST_CHECK __attribute__((malloc));
void *xreallocarray(void *p, size_t count, size_t size) MUST_CHECK;
char *xstrdup(const char *s) MUST_CHECK __attribute__((malloc));
char *xstrndup(const char *s, size_t n) MUST_CHECK __attribute__((malloc));
char *xasprintf(const char *format, ...) MUST_CHECK PRINTF_LIKE(1, 2);

/*
 * Makes room for one more element behind *items (n used, *room allocated)
 * and returns the perhaps moved array.
 */
void *xgrow(void *items, size_t n, size_t *room, size_t size) MUST_CHECK;

/* For CLEANUP(): frees the pointer that the variable holds. */
void xfree_cleanup(void *pointer_to_pointer);

/*
 * What to do before the end when memory has run out or an invariant is
 * broken. Set by the command line, which alone knows what is attached. The
 * hook must not allocate; it may return. The thread that has set it runs it, as
 * none but who traces can let go; it gets SIGABRT for that of another one, and
 * a handler of that signal must call fatal_run_hook().
 */
void fatal_set_hook(void (*hook)(void *context), void *context);

/* For crashes. Runs the hook, unless it was run before; false when there is none. */
bool fatal_run_hook(void);

/* Says what happened, runs the hook once, and aborts. */
void fatal(const char *format, ...) PRINTF_LIKE(1, 2) NO_RETURN;

#endif
