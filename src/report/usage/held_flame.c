/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/usage/held_flame.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "report/usage/frames.h"

/* What is deeper counts with what is above it. */
#define DEPTH_MOST 64

struct held_stack {
	size_t nodes[DEPTH_MOST]; /* from the variable on */
	unsigned count;
	uint64_t bytes;
};

typedef void stack_seen(void *context, const struct held_tree *tree,
			const struct held_stack *stack);

static void follow(const struct held_tree *tree, size_t at, unsigned depth,
		   struct held_stack *ret)
{
	ret->count = depth;
	while (depth) {
		ret->nodes[--depth] = at;
		at = tree->list[at].above;
	}
}

static void each_stack(const struct held_tree *tree, stack_seen *seen,
		       void *context)
{
	unsigned *depths = xcalloc(tree->count + 1, sizeof(*depths));
	size_t *told = xcalloc(tree->count + 1, sizeof(*told));
	uint64_t *bytes = xcalloc(tree->count + 1, sizeof(*bytes));

	for (size_t i = 1; i < tree->count; i++) {
		const size_t above = told[tree->list[i].above];
		const bool deep = depths[above] == DEPTH_MOST;

		told[i] = deep ? above : i;
		depths[i] = depths[above] + 1;
		bytes[told[i]] += tree->list[i].bytes;
	}
	for (size_t i = 1; i < tree->count; i++) {
		struct held_stack stack = { .bytes = bytes[i] };

		if (!stack.bytes)
			continue;
		follow(tree, i, depths[i], &stack);
		seen(context, tree, &stack);
	}
	free(depths);
	free(told);
	free(bytes);
}

static void fold(void *context, const struct held_tree *tree,
		 const struct held_stack *stack)
{
	struct strbuf *out = context;

	for (unsigned i = 0; i < stack->count; i++) {
		if (i)
			strbuf_putc(out, ';');
		frames_fold(tree->list[stack->nodes[i]].name, out);
	}
	strbuf_printf(out, " %" PRIu64 "\n", stack->bytes);
}

void held_fold(const struct held_tree *tree, struct strbuf *out)
{
	each_stack(tree, fold, out);
}

static void draw(void *context, const struct held_tree *tree,
		 const struct held_stack *stack)
{
	struct flame_path path = flame_path_begin(context);

	for (unsigned i = 0; i < stack->count; i++)
		frames_add(&path, tree->list[stack->nodes[i]].name);
	(void)flame_path_weigh(&path, stack->bytes);
}

void held_draw(const struct leaks *leaks, const struct held_tree *tree,
	       uint64_t wall, struct strbuf *out)
{
	struct flame_tree *flames = flame_tree_new(FLAME_NODES_MAX);

	each_stack(tree, draw, flames);
	frames_draw(flames, "Memory Held by One Alone", leaks, wall, out);
}
