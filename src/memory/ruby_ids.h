/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_RUBY_IDS_H
#define CALLTRAP_RUBY_IDS_H

#include "base/memory.h"
#include "memory/blocks.h"
#include "memory/ruby_classes.h"

/* The texts that Ruby's numbers of names stand for: "@user", "$cache". */
struct ruby_ids {
	struct memory *memory;
	taddr_t rows; /* an Array of Arrays has them, by their numbers; or 0 */
	uint64_t row_count;
	unsigned left; /* looks at numbers of variables */
};

/* blocks: with Ruby's objects. */
void ruby_ids_find(struct memory *memory, const struct blocks *blocks,
		   struct ruby_ids *ret);
bool ruby_ids_name(const struct ruby_ids *ids, uint64_t id,
		   char ret[RUBY_TEXT_ROOM]);

/* Of an object of a class of the program's: the name of its variable with that
   number; within: its variables are kept in the object itself. */
bool ruby_ids_variable(struct ruby_ids *ids, taddr_t object, uint64_t number,
		       bool within, char ret[RUBY_TEXT_ROOM]);

#endif
