/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/held_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"
#include "memory/graph.h"

/* So many pointers outside of blocks have variables with names. */
#define NAMED_MAX (1u << 18)

/* In a variable with more pointers than this, none of them is a member that
   people know by its name. */
#define MEMBERS_MAX 256

/* Nodes and edges are counted in 32 bits. */
#define EDGES_MAX (UINT32_MAX / 2)

struct variable_entry {
	const char *name;
	uint32_t number;
	UT_hash_handle hh;
};

struct held_making {
	struct held_graph *graph;
	const struct blocks *all;
	uint32_t begun; /* of so many blocks the edges have begun */
	struct variable_entry *variables;
	uint32_t edge_count;
	size_t edge_room;
	uint64_t lost; /* edges that there was no room for */
};

/* ---- what isn't in a block ---- */

static uint32_t add_variable(struct held_graph *graph, const char *name,
			     bool of_thread)
{
	graph->variables = xgrow(graph->variables, graph->variable_count,
				 &graph->variable_room,
				 sizeof(*graph->variables));
	graph->variables[graph->variable_count] = (struct held_variable){
		.name = name,
		.of_thread = of_thread,
	};
	return (uint32_t)graph->variable_count++;
}

static uint32_t variable_of(struct held_making *making, taddr_t where)
{
	struct held_graph *graph = making->graph;
	const bool named = graph->pointer_count < NAMED_MAX;
	const char *name = named ? block_names_variable(graph->names, where) :
				   "other places";
	struct variable_entry *entry;

	HASH_FIND_STR(making->variables, name, entry);
	if (entry)
		return entry->number;
	entry = xcalloc(1, sizeof(*entry));
	entry->name = name;
	entry->number =
		add_variable(graph, name,
			     named && block_names_is_of_thread(graph->names,
							       where));
	HASH_ADD_KEYPTR(hh, making->variables, entry->name, strlen(name),
			entry);
	return entry->number;
}

static uint32_t number_of(const struct held_making *making,
			  const struct block *block)
{
	return (uint32_t)(block - making->all->list);
}

static void found_in_root(struct held_making *making,
			  const struct pointer *pointer)
{
	struct held_graph *graph = making->graph;
	uint32_t variable;

	if (graph->pointer_count >= EDGES_MAX) {
		making->lost++;
		return;
	}
	variable = variable_of(making, pointer->where);
	graph->variables[variable].pointers++;
	graph->pointers = xgrow(graph->pointers, graph->pointer_count,
				&graph->pointer_room, sizeof(*graph->pointers));
	graph->pointers[graph->pointer_count++] = (struct held_pointer){
		.where = pointer->where,
		.variable = variable,
		.block = number_of(making, pointer->to),
	};
}

/* ---- edges ---- */

static void add_edge(struct held_making *making, uint32_t to)
{
	struct directed *edges = &making->graph->edges;

	if (making->edge_count >= EDGES_MAX) {
		making->lost++;
		return;
	}
	edges->to = xgrow(edges->to, making->edge_count, &making->edge_room,
			  sizeof(*edges->to));
	edges->to[making->edge_count++] = to;
}

/* Those of variables first. */
static void lead_to_variables(struct held_making *making)
{
	struct held_graph *graph = making->graph;

	for (unsigned threads = 0; threads < 2; threads++) {
		for (size_t i = 0; i < graph->variable_count; i++)
			if (graph->variables[i].of_thread == threads)
				add_edge(making,
					 graph->blocks + 1 + (uint32_t)i);
		if (!threads)
			graph->edges.strong = making->edge_count;
	}
}

static void begin_blocks(struct held_making *making)
{
	struct held_graph *graph = making->graph;

	graph->edges.count = 1 + graph->blocks +
			     (uint32_t)graph->variable_count +
			     (uint32_t)graph->pointer_count;
	graph->edges.first = xcalloc((size_t)graph->edges.count + 1,
				     sizeof(*graph->edges.first));
	lead_to_variables(making);
}

/* Those before it that haven't begun have no edges. */
static void begin_until(struct held_making *making, uint32_t blocks)
{
	if (!making->graph->edges.first)
		begin_blocks(making);
	while (making->begun < blocks)
		making->graph->edges.first[++making->begun] =
			making->edge_count;
}

static void found(void *context, const struct pointer *pointer)
{
	struct held_making *making = context;

	if (!pointer_holds(pointer))
		return;
	if (!pointer->from) {
		found_in_root(making, pointer);
	} else if (pointer->from->mark == REACH_REACHED) {
		begin_until(making, number_of(making, pointer->from) + 1);
		add_edge(making, number_of(making, pointer->to) + 1);
	}
}

static int compare_pointers(const void *a, const void *b)
{
	const struct held_pointer *x = a, *y = b;

	if (x->variable != y->variable)
		return x->variable < y->variable ? -1 : 1;
	return x->where < y->where ? -1 : x->where > y->where;
}

/* Else it leads to blocks by itself. */
static bool has_members(const struct held_variable *variable)
{
	return !variable->of_thread && variable->pointers <= MEMBERS_MAX;
}

static void lead_from_variables(struct held_making *making)
{
	struct held_graph *graph = making->graph;
	const uint32_t variables = graph->blocks + 1;
	const uint32_t pointers = variables + (uint32_t)graph->variable_count;
	uint32_t p = 0;

	if (graph->pointer_count)
		qsort(graph->pointers, graph->pointer_count,
		      sizeof(*graph->pointers), compare_pointers);
	for (uint32_t i = 0; i < graph->variable_count; i++) {
		const struct held_variable *variable = &graph->variables[i];
		const uint32_t end = p + variable->pointers;

		graph->edges.first[variables + i] = making->edge_count;
		for (; p < end; p++)
			add_edge(making, has_members(variable) ?
						 pointers + p :
						 graph->pointers[p].block + 1);
	}
	for (p = 0; p < graph->pointer_count; p++) {
		graph->edges.first[pointers + p] = making->edge_count;
		add_edge(making, graph->pointers[p].block + 1);
	}
	graph->edges.first[graph->edges.count] = making->edge_count;
}

static void free_entries(struct variable_entry *entries)
{
	struct variable_entry *entry, *next;

	HASH_ITER(hh, entries, entry, next) {
		HASH_DEL(entries, entry);
		free(entry);
	}
}

int held_graph_make(const struct leaks *leaks, struct block_names *names,
		    struct held_graph *ret)
{
	struct held_making making = {
		.graph = ret,
		.all = &leaks->glibc.blocks,
	};

	*ret = (struct held_graph){ .names = names };
	if (leaks->glibc.blocks.count >= EDGES_MAX)
		return -EFBIG;
	ret->blocks = (uint32_t)leaks->glibc.blocks.count;
	graph_walk(leaks, found, &making);
	begin_until(&making, ret->blocks);
	lead_from_variables(&making);
	free_entries(making.variables);
	if (!making.lost)
		return 0;
	held_graph_fini(ret);
	return -EFBIG;
}

void held_graph_fini(struct held_graph *graph)
{
	free(graph->edges.first);
	free(graph->edges.to);
	free(graph->variables);
	free(graph->pointers);
	*graph = (struct held_graph){ .variables = NULL };
}

const char *held_graph_name(const struct held_graph *graph, uint32_t node)
{
	const uint32_t index = node - graph->blocks - 1;

	if (index < graph->variable_count)
		return graph->variables[index].name;
	return block_names_place(
		graph->names,
		graph->pointers[index - graph->variable_count].where);
}
