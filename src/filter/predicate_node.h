/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PREDICATE_NODE_H
#define CALLTRAP_PREDICATE_NODE_H

#include "filter/predicate.h"

/* The inside of predicates: predicate_parse.c makes what predicate.c asks. */

enum node_kind {
	NODE_OR, /* of two nodes, as are all up to NODE_BITS */
	NODE_AND,
	NODE_EQUAL,
	NODE_NOT_EQUAL,
	NODE_LESS,
	NODE_AT_MOST,
	NODE_BITS,
	NODE_NOT,   /* of .left */
	NODE_EVERY, /* .number, … */
	NODE_FIRST, /* … and how many there were */
	NODE_NUMBER,
	NODE_ARGUMENT, /* number .number, from 0 on */
	NODE_NAMED,
	NODE_RESULT,
	NODE_ERROR,
	NODE_DURATION,
};

struct node {
	enum node_kind kind;
	unsigned left, right; /* indices of nodes that come earlier */
	struct predicate_number number;
	uint64_t count;
	char *name;
};

#define PREDICATE_NODES 256

struct predicate {
	struct node nodes[PREDICATE_NODES];
	unsigned count;
	unsigned root;
	bool counts;       /* there is a NODE_EVERY or NODE_FIRST, … */
	bool needs_return; /* … a NODE_RESULT, _ERROR or _DURATION */
};

#endif
