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

/* Texts begin so: zend_string, Zend/zend_types.h. */
struct php_head {
	uint32_t references;
	uint32_t info; /* the lower four bits are the type */
};

struct php_string {
	struct php_head head;
	uint64_t hash, length;
};

bool php_is_text(const struct php_string *string);

/* An entry of the list of what has memory of its own: zend_mm_huge_list,
   Zend/zend_alloc.c. */
struct php_entry {
	taddr_t block;
	uint64_t bytes;
	taddr_t next;
};

/* Before the values of an object's properties. */
#define PHP_OBJECT_HEAD 40

/* As much of a piece has to be there. */
#define PHP_LOOKED_AT 320

struct php_piece {
	taddr_t address;
	uint64_t bytes;
	const uint8_t *begin; /* what it begins with, … */
	uint64_t seen; /* … so many bytes: PHP_LOOKED_AT or more, or all */
};

/* The type of what it holds, if that has one; then it is counted. Else NULL. */
const char *php_objects_count(struct php_objects *objects,
			      const struct php_piece *piece);

/* The class of an object, and how far in its piece it lies; 0: it is none. */
taddr_t php_objects_class(struct php_objects *objects,
			  const struct php_piece *piece, size_t *offset_ret);

/* Where the memory begins that an array's elements are in, if it is one. */
taddr_t php_objects_apart(const struct php_piece *piece);

#endif
