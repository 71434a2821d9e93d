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

#endif
