/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HELD_GRAPH_H
#define CALLTRAP_HELD_GRAPH_H

#include "memory/block_names.h"
#include "memory/dominators.h"

/* What has pointers outside of blocks: a variable, a thread, a mapping. */
struct held_variable {
	const char *name; /* as block_names has it */
	uint32_t pointers;
	bool of_thread;
};

struct held_pointer {
	taddr_t where;
	uint32_t variable; /* that it is in */
	uint32_t block;    /* that it points at */
};

/*
 * All that is reached, as a graph. Its nodes: 0 is where all begins; blocks are
 * their indices and 1; then come variables, and then the pointers in them.
 */
struct held_graph {
	struct directed edges;
	uint32_t blocks;
	struct block_names *names;
	struct held_variable *variables;
	struct held_pointer *pointers;
	size_t variable_count, variable_room;
	size_t pointer_count, pointer_room;
};

/* names have to last as long. -EFBIG: there are too many edges. */
int held_graph_make(const struct leaks *leaks, struct block_names *names,
		    struct held_graph *ret) MUST_CHECK;
void held_graph_fini(struct held_graph *graph);

/* The name of a node that is neither the first nor a block. */
const char *held_graph_name(const struct held_graph *graph, uint32_t node);

#endif
