/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PYTHON_HEAP_H
#define CALLTRAP_PYTHON_HEAP_H

#include "memory/object_heap.h"

/* Whether the process has such an interpreter, by names of files. */
bool python_is_there(const struct mappings *mappings);

/*
 * What CPython's own allocator has: pools of pieces of one size, which are known
 * by what they say of themselves, and the objects there and in malloc's blocks.
 */
void python_heap_read(struct memory *memory, const struct mappings *mappings,
		      const struct blocks *blocks,
		      const struct object_observer *observer,
		      struct object_heap *ret);

#endif
