/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_TREE_H
#define CALLTRAP_HEAP_TREE_H

#include "base/hash.h"
#include "report/heap_export.h"

/* The stacks of all sites as a tree of functions, outermost ones first. */

#define HEAP_NODE_LINES 4

struct heap_node {
	const char *name;      /* printable */
	const char *library;   /* path, or "" */
	const char *file;      /* or NULL */
	unsigned lines[HEAP_NODE_LINES]; /* from which it called; the first
					    ones that were met */
	unsigned line_count;   /* may be more than there is room for */
	char *leak;            /* why what is acquired here is a LIKELY leak,
				  or NULL */
	uint64_t weight;       /* with all that is inside */
	uint64_t start;        /* the weight of all that is left of it */
	unsigned depth;        /* 0: the root */
	struct heap_node *parent, *child, *next;
	char *key;
	UT_hash_handle hh;
};

struct heap_tree {
	struct heap_node *root; /* "all" */
	struct heap_node *nodes;
	unsigned height;        /* of the root alone: 1 */
	unsigned leaks;         /* LIKELY sites */
	size_t left_out;        /* sites */
};

/*
 * The heaviest child is the first one. With more than about max nodes, what
 * light sites weigh goes to nodes named "[smaller sites]"; LIKELY ones are
 * never light.
 */
struct heap_tree *heap_tree_new(const struct heap_export *export,
				size_t max) MUST_CHECK;
void heap_tree_free(struct heap_tree *tree);

/* The next one, parents before children; NULL behind the last. */
const struct heap_node *heap_tree_next(const struct heap_node *node);

#endif
