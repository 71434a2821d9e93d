/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/dominators.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/xalloc.h"

/*
 * Lengauer and Tarjan's algorithm (A fast algorithm for finding dominators in a
 * flowgraph, 1979), the simple one, with stacks of its own, as lists are long.
 * Nodes go by their numbers in a depth-first search, from 1 on; 0 is none.
 */
struct search {
	struct directed *graph;
	uint32_t count, strong; /* met, and by the strong edges alone */
	uint32_t *number;       /* of each node of the graph */
	uint32_t *node;         /* by number, like all that follow */
	uint32_t *parent, *semi, *dominator;
	uint32_t *ancestor, *label;
	uint32_t *bucket, *next; /* of nodes that have the same semidominator */
	uint32_t *first, *from;  /* who leads there */
	uint32_t *path;
};

static uint32_t *numbers(size_t count)
{
	return xcalloc(count + 1, sizeof(uint32_t));
}

static void meet(struct search *search, uint32_t node, uint32_t parent)
{
	const uint32_t number = ++search->count;

	search->number[node] = number;
	search->node[number] = node;
	search->parent[number] = parent;
}

/* next: of each that was met, the edge to be looked at. */
static void number_nodes(struct search *search, uint32_t *next)
{
	const struct directed *graph = search->graph;
	uint32_t at = 1;

	meet(search, 0, 0);
	next[at] = graph->first[0];
	while (at) {
		const uint32_t node = search->node[at];
		uint32_t to;

		if (at == 1 && next[at] == graph->first[0] + graph->strong)
			search->strong = search->count;
		if (next[at] == graph->first[node + 1]) {
			at = search->parent[at];
			continue;
		}
		to = graph->to[next[at]++];
		if (search->number[to])
			continue;
		meet(search, to, at);
		at = search->count;
		next[at] = graph->first[to];
	}
}

/* ---- who leads there ---- */

static bool counts(const struct search *search, uint32_t from, uint32_t edge,
		   uint32_t to)
{
	const struct directed *graph = search->graph;
	const bool weak = from == 1 && edge >= graph->first[0] + graph->strong;

	return to > search->strong || (from <= search->strong && !weak);
}

typedef void edge_seen(struct search *search, uint32_t from, uint32_t to);

static void each_edge(struct search *search, edge_seen *seen)
{
	const struct directed *graph = search->graph;

	for (uint32_t from = 1; from <= search->count; from++) {
		const uint32_t node = search->node[from];

		for (uint32_t i = graph->first[node];
		     i < graph->first[node + 1]; i++) {
			const uint32_t to = search->number[graph->to[i]];

			if (counts(search, from, i, to))
				seen(search, from, to);
		}
	}
}

static void count_edge(struct search *search, uint32_t from UNUSED, uint32_t to)
{
	search->first[to]++;
}

/* Backwards, so that each list ends up where it begins. */
static void turn_edge(struct search *search, uint32_t from, uint32_t to)
{
	search->from[--search->first[to]] = from;
}

static void turn_edges(struct search *search)
{
	uint32_t sum = 0;

	search->first = numbers(search->count + 1);
	each_edge(search, count_edge);
	for (uint32_t i = 0; i <= search->count; i++) {
		sum += search->first[i];
		search->first[i] = sum;
	}
	search->first[search->count + 1] = sum;
	search->from = numbers(sum);
	each_edge(search, turn_edge);
}

/* ---- dominators ---- */

/* Makes the way to the root short, and the labels as good as on the long one. */
static void compress(struct search *search, uint32_t at)
{
	uint32_t *const ancestor = search->ancestor, *label = search->label;
	size_t length = 0;

	while (ancestor[ancestor[at]]) {
		search->path[length++] = at;
		at = ancestor[at];
	}
	while (length) {
		const uint32_t above = at;

		at = search->path[--length];
		if (search->semi[label[above]] < search->semi[label[at]])
			label[at] = label[above];
		ancestor[at] = ancestor[above];
	}
}

/* Of those on the way to the root the one with the least semidominator. */
static uint32_t best(struct search *search, uint32_t at)
{
	if (!search->ancestor[at])
		return at;
	compress(search, at);
	return search->label[at];
}

static void settle_bucket(struct search *search, uint32_t parent)
{
	uint32_t at = search->bucket[parent];

	while (at) {
		const uint32_t found = best(search, at);

		search->dominator[at] =
			search->semi[found] < search->semi[at] ? found : parent;
		at = search->next[at];
	}
	search->bucket[parent] = 0;
}

static void take_node(struct search *search, uint32_t at)
{
	uint32_t *const semi = &search->semi[at];

	for (uint32_t i = search->first[at]; i < search->first[at + 1]; i++) {
		const uint32_t found = best(search, search->from[i]);

		if (search->semi[found] < *semi)
			*semi = search->semi[found];
	}
	search->next[at] = search->bucket[*semi];
	search->bucket[*semi] = at;
	search->ancestor[at] = search->parent[at];
	settle_bucket(search, search->parent[at]);
}

static void find(struct search *search)
{
	for (uint32_t i = 1; i <= search->count; i++)
		search->semi[i] = search->label[i] = i;
	for (uint32_t i = search->count; i > 1; i--)
		take_node(search, i);
	for (uint32_t i = 2; i <= search->count; i++)
		if (search->dominator[i] != search->semi[i])
			search->dominator[i] =
				search->dominator[search->dominator[i]];
}

static void take_result(const struct search *search, struct dominators *ret)
{
	ret->reached = search->count;
	ret->order = numbers(search->count);
	for (uint32_t i = 1; i <= search->count; i++) {
		const uint32_t above = i > 1 ? search->dominator[i] : 1;

		ret->of[search->node[i]] = search->node[above];
		ret->order[i - 1] = search->node[i];
	}
}

static void free_search(struct search *search)
{
	free(search->parent);
	free(search->semi);
	free(search->dominator);
	free(search->ancestor);
	free(search->label);
	free(search->bucket);
	free(search->next);
	free(search->first);
	free(search->from);
	free(search->path);
	free(search->node);
}

static void find_numbered(struct search *search, struct dominators *ret)
{
	const uint32_t count = search->count;

	search->semi = numbers(count);
	search->dominator = numbers(count);
	search->ancestor = numbers(count);
	search->label = numbers(count);
	search->bucket = numbers(count);
	search->next = numbers(count);
	search->path = numbers(count);
	find(search);
	take_result(search, ret);
}

void dominators_find(struct directed *graph, struct dominators *ret)
{
	struct search search = {
		.graph = graph,
		.number = numbers(graph->count),
		.node = numbers(graph->count),
		.parent = numbers(graph->count),
	};
	uint32_t *next = numbers(graph->count);

	*ret = (struct dominators){ .of = numbers(graph->count) };
	for (uint32_t i = 0; i < graph->count; i++)
		ret->of[i] = i;
	number_nodes(&search, next);
	free(next);
	turn_edges(&search);
	free(search.number);
	free(graph->first);
	free(graph->to);
	graph->first = graph->to = NULL;
	find_numbered(&search, ret);
	free_search(&search);
}

void dominators_fini(struct dominators *dominators)
{
	free(dominators->of);
	free(dominators->order);
	*dominators = (struct dominators){ .of = NULL };
}
