/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_WRAPPERS_H
#define CALLTRAP_WRAPPERS_H

#include "heap/heap.h"
#include "naming/namer.h"

/*
 * Functions through which a program reaches its allocator: redis' zmalloc.
 * That they acquire says nothing; who has called them does.
 */
struct wrappers;

/* patterns: those that the user knows, with * and ?, NULL-terminated; or NULL.
   Not copied. */
struct wrappers *wrappers_new(char *const *patterns) MUST_CHECK;
void wrappers_free(struct wrappers *wrappers);

/*
 * Finds those of a heap, and forgets those of the one before: functions that
 * call the allocator in many stacks, and are called from many places. All that
 * wrappers_frames() has said is named for it.
 */
void wrappers_find(struct wrappers *wrappers, const struct heap *heap,
		   const struct stacks *stacks, struct namer *namer);

/* The frames that wrappers_find() will ask the namer for, each once; at most
   room of them, and it looks at no others. */
#define WRAPPER_FRAMES_MAX 1024

size_t wrappers_frames(const struct heap *heap, const struct stacks *stacks,
		       struct frame frames[WRAPPER_FRAMES_MAX]);

/* wrappers may be NULL: then none is one. */
bool wrappers_have(const struct wrappers *wrappers,
		   const struct frame_name *name);

#endif
