/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PYTHON_H
#define CALLTRAP_PYTHON_H

#include "memory/glibc.h"
#include "memory/python_types.h"

/*
 * What CPython's own allocator has: pools of pieces of one size, which are known
 * by what they say of themselves, and the objects there and in malloc's blocks.
 */
struct python_sum {
	uint64_t count, bytes;
};

struct python_heap {
	struct python_types *keeper; /* of names */
	struct python_type *types;   /* the largest come first */
	size_t type_count;
	struct python_sum objects; /* … of all types */
	struct python_sum others;  /* pieces of pools in use that are none: what
				      objects keep apart, as lists do */
	struct python_sum free;    /* pieces of pools that have others */
	struct python_sum empty;   /* whole pools */
	struct python_sum broken;  /* pools that make no sense any more */
	uint64_t pools;
};

/* Whether the process has such an interpreter, by names of files. */
bool python_is_there(const struct mappings *mappings);

/* -ENOENT when the process has no such interpreter, or no pools are found. */
int python_heap_read(struct memory *memory, const struct mappings *mappings,
		     const struct glibc *glibc,
		     struct python_heap *ret) MUST_CHECK;
void python_heap_fini(struct python_heap *heap);

#endif
