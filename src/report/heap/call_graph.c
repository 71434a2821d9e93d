/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/call_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

static void free_function(struct graph_function *function)
{
	struct graph_line *line, *next_line;
	struct graph_call *call, *next_call;

	HASH_ITER(hh, function->lines, line, next_line) {
		HASH_DEL(function->lines, line);
		free(line);
	}
	HASH_ITER(hh, function->calls, call, next_call) {
		HASH_DEL(function->calls, call);
		free(call);
	}
	free(function->object);
	free(function->file);
	free(function->name);
	free(function->key);
	free(function);
}

void call_graph_fini(struct call_graph *graph)
{
	struct graph_function *function, *next;

	HASH_ITER(hh, graph->functions, function, next) {
		HASH_DEL(graph->functions, function);
		free_function(function);
	}
}

struct graph_function *call_graph_function(struct call_graph *graph,
					   const char *object, const char *file,
					   const char *name)
{
	char *key CLEANUP(xfree_cleanup) =
		xasprintf("%s\n%s\n%s", object, file, name);
	struct graph_function *function;

	HASH_FIND_STR(graph->functions, key, function);
	if (function)
		return function;
	function = xcalloc(1, sizeof(*function));
	function->key = xstrdup(key);
	function->object = xstrdup(object);
	function->file = xstrdup(file);
	function->name = xstrdup(name);
	HASH_ADD_KEYPTR(hh, graph->functions, function->key,
			strlen(function->key), function);
	function->number = HASH_COUNT(graph->functions);
	return function;
}

static void add_cost(struct graph_cost *sum, const struct graph_cost *cost)
{
	for (size_t i = 0; i < GRAPH_COSTS; i++)
		sum->number[i] += cost->number[i];
}

static void add_own(const struct graph_frame *frame,
		    const struct graph_cost *cost)
{
	struct graph_function *function = frame->function;
	struct graph_line *line;

	HASH_FIND(hh, function->lines, &frame->line, sizeof(frame->line), line);
	if (!line) {
		line = xcalloc(1, sizeof(*line));
		line->line = frame->line;
		HASH_ADD(hh, function->lines, line, sizeof(line->line), line);
	}
	add_cost(&line->cost, cost);
}

static void add_call(struct call_graph *graph, const struct graph_frame *caller,
		     struct graph_function *callee, uint64_t count,
		     const struct graph_cost *cost)
{
	struct graph_function *function = caller->function;
	const struct graph_call key = { .key = { callee, caller->line } };
	struct graph_call *call;

	HASH_FIND(hh, function->calls, &key.key, sizeof(key.key), call);
	if (!call) {
		call = xmalloc(sizeof(*call));
		*call = key;
		HASH_ADD(hh, function->calls, key, sizeof(key.key), call);
	}
	if (call->last_stack == graph->stacks)
		return;
	call->last_stack = graph->stacks;
	call->count += count;
	add_cost(&call->cost, cost);
}

static size_t without_recursion(struct graph_frame *frames, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!kept || frames[kept - 1].function != frames[i].function)
			frames[kept++] = frames[i];
	return kept;
}

void call_graph_add(struct call_graph *graph, struct graph_frame *frames,
		    size_t frame_count, uint64_t count,
		    const struct graph_cost *cost)
{
	size_t kept = without_recursion(frames, frame_count);

	graph->stacks++;
	if (kept)
		add_own(&frames[0], cost);
	for (size_t i = 1; i < kept; i++)
		add_call(graph, &frames[i], frames[i - 1].function, count,
			 cost);
}
