/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DOMINATORS_H
#define CALLTRAP_DOMINATORS_H

#include <stddef.h>
#include <stdint.h>

/* A directed graph. All ways begin at node 0. */
struct directed {
	uint32_t count;  /* nodes */
	uint32_t *first; /* of each node, and one more: its edges in to */
	uint32_t *to;
	uint32_t strong; /* the first edges of node 0: what they lead to is held
			    by nothing that only its other edges lead to */
};

/*
 * Of each node the one that all ways to it lead through last: its immediate
 * dominator. Ordered are the nodes that are reached, each behind its own.
 */
struct dominators {
	uint32_t *of; /* of each node; it itself: 0, or not reached */
	uint32_t *order;
	uint32_t reached;
};

/* The graph's edges are freed on the way, as they take most of the memory. */
void dominators_find(struct directed *graph, struct dominators *ret);
void dominators_fini(struct dominators *dominators);

#endif
