/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_H
#define CALLTRAP_HEAP_H

#include <sys/types.h>

#include "heap/family.h"
#include "stack/stacks.h"

/*
 * What one process has acquired and not given back. It is told of each
 * completed act in the order in which it took effect: a release before the
 * real one runs, an acquisition after it has returned. Nested calls (malloc
 * inside operator new) are the business of the caller: one act for one call
 * of the program.
 */
struct heap;

struct heap_act {
	const struct family *family;
	const struct family_function *function;
	uint64_t begin, end;  /* monotonic, nanoseconds */
	pid_t tid;
	stack_id stack;
	uint64_t handle;      /* 0: it failed (ACQUIRE, RESIZE) */
	uint64_t old;         /* RESIZE: 0 = none */
	uint64_t size;
	const char *library;  /* of the caller; lives as long as the session */
};

struct heap *heap_new(const struct families *families,
		      const struct stacks *stacks) MUST_CHECK;
void heap_free(struct heap *heap);

void heap_act(struct heap *heap, const struct heap_act *act);

#endif
