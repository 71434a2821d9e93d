/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GRAPH_H
#define CALLTRAP_GRAPH_H

#include "memory/leaks.h"

/* How a word points at a block. */
enum pointer_kind {
	POINTER_BEGINNING,
	POINTER_USUAL,  /* into its middle, as C++ and others hold blocks */
	POINTER_MIDDLE, /* … as nobody does on purpose */
	POINTER_KINDS,
};

struct pointer {
	const struct block *from; /* NULL: it is in no block … */
	taddr_t where;            /* … but there; 0: in a register */
	const struct block *to;
	enum pointer_kind kind;
};

/* Whether that is how a reached block is held. */
static inline bool pointer_holds(const struct pointer *pointer)
{
	return pointer->to->mark == REACH_REACHED &&
	       pointer->kind != POINTER_MIDDLE;
}

typedef void graph_found(void *context, const struct pointer *pointer);

/* Each pointer at a block: those of roots first, then those in blocks, by
   address. */
void graph_walk(const struct leaks *leaks, graph_found *found, void *context);

#endif
