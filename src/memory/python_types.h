/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PYTHON_TYPES_H
#define CALLTRAP_PYTHON_TYPES_H

#include "base/memory.h"
#include "memory/object_types.h"

/*
 * Which addresses are types of CPython's objects: they are objects themselves,
 * whose type is a type of types (64 bits; the same from 3.7 to 3.13).
 */
struct python_types;

/* What all objects begin with: PyObject, Include/object.h. */
struct python_object {
	uint64_t references;
	taddr_t type;
};

struct python_types *python_types_new(struct memory *memory,
				      const struct mappings *mappings);
void python_types_free(struct python_types *types);

/* Whether there is a type, and whether its objects are lists; its name isn't
   looked at. */
bool python_types_has(struct python_types *types, taddr_t address,
		      bool *of_lists_ret);

/* Where, from its beginning on, an object of a type has the first of its weak
   references; 0: nowhere, or that is no type. */
int64_t python_types_weak_list(struct python_types *types, taddr_t address);

/* The type of the object in memory that begins so, as it was acquired; it is
   counted with that; and where in there it begins. NULL: there is none. */
const char *python_types_count(struct python_types *types, const void *head,
			       size_t size, uint64_t bytes, size_t *head_ret);

/* Those that were counted, the largest first; to be freed with their names. */
struct object_type *python_types_list(const struct python_types *types,
				      size_t *count_ret);

#endif
