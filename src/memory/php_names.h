/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PHP_NAMES_H
#define CALLTRAP_PHP_NAMES_H

#include "base/memory.h"
#include "memory/blocks.h"

/* What PHP calls its objects. */
struct php_names;

struct php_names *php_names_new(struct memory *memory);
void php_names_free(struct php_names *names);

/* Of an object: "Session", "array"; NULL: it is none. Belongs to names. */
const char *php_names_class(struct php_names *names, const struct block *block);

/* As python_names_key(), in an array. */
const char *php_names_key(struct php_names *names, taddr_t where);

/* ".user": the property that a pointer in an object is. */
const char *php_names_property(struct php_names *names,
			       const struct block *object, taddr_t where);

#endif
