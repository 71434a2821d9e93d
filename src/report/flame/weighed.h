/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FLAME_WEIGHED_H
#define CALLTRAP_FLAME_WEIGHED_H

#include "report/flame/tree.h"

/* A stack that is to be put into a tree, whatever it belongs to. */
struct weighed {
	const void *site;
	uint64_t weight;    /* what it is as wide as */
	uint64_t number;    /* for the order of equal ones */
	bool never_dropped; /* the tree is full before all are in it */
};

struct weighed_list {
	struct weighed *items;
	size_t count, room;
};

/* Nothing for what weighs nothing. */
void weighed_add(struct weighed_list *list, const struct weighed *weighed);

/*
 * A tree of them all, at most max nodes, by plant(), which is called for each:
 * the ones that are never dropped first, then the heaviest. The list is freed.
 */
struct flame_tree *weighed_plant(struct weighed_list *list, size_t max,
				 void (*plant)(const void *context,
					       struct flame_tree *tree,
					       const struct weighed *weighed),
				 const void *context) MUST_CHECK;

#endif
