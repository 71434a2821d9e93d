/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FLAME_TREE_H
#define CALLTRAP_FLAME_TREE_H

#include "base/hash.h"
#include "base/types.h"

/* Stacks as a tree of functions, outermost ones first: what flame graphs show.
   Where they come from, and what they weigh, is the caller's. */

#define FLAME_NODE_LINES 4

struct flame_node {
	const char *name;                 /* printable */
	const char *library;              /* path, or "" */
	const char *file;                 /* or NULL */
	unsigned lines[FLAME_NODE_LINES]; /* from which it called; the first
					     ones that were met */
	unsigned line_count;  /* may be more than there is room for */
	char *leak;           /* why what is acquired here is a LIKELY leak,
				  or NULL */
	uint64_t weight;      /* with all that is inside */
	uint64_t before, now; /* of differences: what each side weighs; weight
				  is the sum of the larger side of each stack */
	uint64_t start;       /* the weight of all that is left of it */
	uint64_t identity;    /* by its path and not its place, so that links
				  outlive what has grown */
	unsigned depth;       /* 0: the root */
	struct flame_node *parent, *child, *next;
	char *key;
	UT_hash_handle hh;
};

struct flame_tree {
	struct flame_node *root; /* "all" */
	struct flame_node *nodes;
	size_t max;
	unsigned height; /* of the root alone: 1 */
	unsigned leaks;  /* LIKELY sites */
	size_t left_out; /* stacks */
};

/* What a node stands for. The texts of all but the name outlive the tree. */
struct flame_place {
	const char *name;    /* printable */
	const char *library; /* path, or "" */
	const char *file;    /* or NULL */
	uint64_t line;       /* 0: not known */
};

/* FNV-1a of a text, behind others or FLAME_HASH_BEGIN. */
#define FLAME_HASH_BEGIN UINT64_C(0xcbf29ce484222325)
uint64_t flame_hash(uint64_t value, const char *text);

/*
 * With more than about max nodes, what further stacks weigh goes to nodes named
 * "[smaller sites]": so heavy ones come first.
 */
struct flame_tree *flame_tree_new(size_t max) MUST_CHECK;
void flame_tree_free(struct flame_tree *tree);

/* A stack on its way into the tree, from the outermost frame on. */
struct flame_path {
	struct flame_tree *tree;
	struct flame_node *node; /* the innermost one so far */
	bool full;               /* there was no room for all of it */
};

struct flame_path flame_path_begin(struct flame_tree *tree);
void flame_path_add(struct flame_path *path, const struct flame_place *place);

/* Ends a path: its last node, never NULL, and that of all around it weigh so
   much more. */
struct flame_node *flame_path_weigh(struct flame_path *path, uint64_t weight);
struct flame_node *flame_path_compare(struct flame_path *path, uint64_t before,
				      uint64_t now);

/* When all are in: the heaviest child is the first one, and each has its
   start. */
void flame_tree_arrange(struct flame_tree *tree);

/* The next one, parents before children; NULL behind the last. */
const struct flame_node *flame_tree_next(const struct flame_node *node);

#endif
