/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_OBJECT_TYPES_H
#define CALLTRAP_OBJECT_TYPES_H

#include "memory/object_heap.h"

/* Types of objects by a number that an interpreter has for each, and how many
   objects of each there are. */
struct object_types {
	struct object_types_entry *known;
};

void object_types_fini(struct object_types *types);

/* NULL: it isn't known yet. "": it is none. */
const char *object_types_name(const struct object_types *types, uint64_t key);

/* Keeps a copy, unless they are full: there are too many. */
bool object_types_are_full(const struct object_types *types);
void object_types_keep(struct object_types *types, uint64_t key,
		       const char *name);

/* One more object of a type that is kept. */
void object_types_count(struct object_types *types, uint64_t key,
			uint64_t bytes);

/* Those that have objects become the heap's. */
void object_types_take(const struct object_types *types,
		       struct object_heap *heap);

/* By their bytes, the largest first. */
void object_types_sort(struct object_type *types, size_t count);

#endif
