/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_RUBY_NAMES_H
#define CALLTRAP_RUBY_NAMES_H

#include "base/memory.h"
#include "memory/blocks.h"

/* What Ruby calls its objects. */
struct ruby_names;

/* blocks: with its objects. */
struct ruby_names *ruby_names_new(struct memory *memory,
				  const struct blocks *blocks);
void ruby_names_free(struct ruby_names *names);

/* Of an object: "Session", "class Session"; NULL: there are too many. Belongs to
   names. */
const char *ruby_names_class(struct ruby_names *names,
			     const struct block *block);

/* As python_names_key(), in a Hash. */
const char *ruby_names_key(struct ruby_names *names, taddr_t where);

/* ".@user": the variable that a pointer is in an object, or among the variables that
   this keeps apart. */
const char *ruby_names_variable(struct ruby_names *names,
				const struct block *object, taddr_t where);
const char *ruby_names_apart(struct ruby_names *names, taddr_t object,
			     uint64_t number);

/* "['$cache']": what begins there is a variable of that name. */
const char *ruby_names_global(struct ruby_names *names,
			      const struct block *block, taddr_t where);

#endif
