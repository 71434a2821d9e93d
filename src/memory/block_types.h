/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_BLOCK_TYPES_H
#define CALLTRAP_BLOCK_TYPES_H

#include "dwarf/debug_type.h"
#include "memory/root_names.h"

/*
 * What the program declares blocks to be: a block on the shortest way from a
 * variable has the type that the pointers on that way are declared with.
 */
struct block_types;

/* leaks has to know the ways (leaks_find()'s ways). */
struct block_types *block_types_new(const struct leaks *leaks,
				    struct root_names *roots);
void block_types_free(struct block_types *types);

/*
 * Of the pointer on that way that leads to a block: the members that lead to it
 * in the block that it is in, and the type of what it points at; NULL for what
 * isn't known. What is returned is good until the next is asked for.
 */
struct debug_step block_types_step(struct block_types *types,
				   const struct block *block);

/* Whether some have none as there were too many questions. */
bool block_types_are_curtailed(const struct block_types *types);

#endif
