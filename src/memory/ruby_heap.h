/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_RUBY_HEAP_H
#define CALLTRAP_RUBY_HEAP_H

#include "memory/object_heap.h"

/* Whether the process has such an interpreter, by names of files. */
bool ruby_is_there(const struct mappings *mappings);

/*
 * Of Ruby 3.1: pages of slots of one size, which are known by what they and the
 * C structure that each of them names say of each other.
 */
void ruby_heap_read(struct memory *memory, const struct mappings *mappings,
		    const struct object_observer *observer,
		    struct object_heap *ret);

#endif
