/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PHP_OBJECTS_H
#define CALLTRAP_PHP_OBJECTS_H

#include "memory/object_types.h"

/* What PHP's memory holds, as its first words tell. */
struct php_objects {
	struct memory *memory;
	struct object_types types;     /* of classes, by their addresses */
	struct php_handlers *handlers; /* where objects lie in their memory */
};

void php_objects_init(struct php_objects *objects, struct memory *memory);
void php_objects_fini(struct php_objects *objects);

/* As much of a piece as is looked at. */
#define PHP_LOOKED_AT 320

/*
 * Whether a piece of so many bytes, which begins so (PHP_LOOKED_AT of them, or
 * all), holds something that has a type; then it is counted. where: its address.
 */
bool php_objects_count(struct php_objects *objects, taddr_t where,
		       const uint8_t *piece, uint64_t bytes);

#endif
