/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CALL_GRAPH_H
#define CALLTRAP_CALL_GRAPH_H

#include "base/hash.h"
#include "base/types.h"

/*
 * Stacks with what they weigh, summed up: what each line of a function has
 * cost by itself, and through each of its calls. A zeroed one is empty.
 */
struct call_graph {
	struct graph_function *functions;
	uint64_t stacks; /* added so far */
};

#define GRAPH_COSTS 9

struct graph_cost {
	uint64_t number[GRAPH_COSTS];
};

struct graph_line {
	unsigned line;
	struct graph_cost cost;
	UT_hash_handle hh;
};

struct graph_call {
	struct {
		struct graph_function *callee;
		uint64_t line;
	} key;
	uint64_t count;
	uint64_t last_stack;
	struct graph_cost cost;
	UT_hash_handle hh;
};

struct graph_function {
	char *key;
	char *object, *file, *name;
	unsigned start_line;
	unsigned number; /* from 1 on */
	struct graph_line *lines;
	struct graph_call *calls;
	UT_hash_handle hh;
};

/* A frame: where the function stands. */
struct graph_frame {
	struct graph_function *function;
	unsigned line;
};

void call_graph_fini(struct call_graph *graph);

struct graph_function *call_graph_function(struct call_graph *graph,
					   const char *object, const char *file,
					   const char *name);

/*
 * Adds a stack, innermost frame first, that has cost so much at its end in
 * count calls. A function that calls itself counts as one frame, the
 * innermost, and a call that is there twice once: nothing weighs more than
 * there is. frames is changed.
 */
void call_graph_add(struct call_graph *graph, struct graph_frame *frames,
		    size_t frame_count, uint64_t count,
		    const struct graph_cost *cost);

#endif
