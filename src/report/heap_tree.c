/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap_tree.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/xalloc.h"
#include "heap/verdict.h"
#include "report/frame_text.h"

/* A site that is to be put into the tree. */
struct weighed {
	const struct site *site;
	uint64_t weight;
	struct verdict verdict;
};

struct planting {
	const struct heap_export *export;
	struct heap_tree *tree;
	size_t max;
	bool full; /* there was no room for all of the stack */
};

/* ---- nodes ---- */

static struct heap_node *add_node(struct heap_tree *tree,
				  struct heap_node *parent, const char *name,
				  const char *library,
				  const struct strbuf *key)
{
	struct heap_node *node = xcalloc(1, sizeof(*node));

	node->key = xmalloc(key->length + 1);
	memcpy(node->key, key->text, key->length + 1);
	node->name = node->key + (key->length - strlen(name));
	node->library = library;
	if (parent) {
		node->parent = parent;
		node->depth = parent->depth + 1;
		LL_PREPEND(parent->child, node);
	}
	if (tree->height <= node->depth)
		tree->height = node->depth + 1;
	HASH_ADD_KEYPTR(hh, tree->nodes, node->key, key->length, node);
	return node;
}

/* The child of that name; NULL when it would be one too many. */
static struct heap_node *child_of(struct heap_tree *tree,
				  struct heap_node *parent, const char *name,
				  const char *library, size_t max)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct heap_node *node;

	strbuf_printf(&key, "%p %s", (void *)parent, library);
	strbuf_putc(&key, '\0');
	strbuf_puts(&key, name);
	HASH_FIND(hh, tree->nodes, key.text, key.length, node);
	if (node)
		return node;
	if (HASH_COUNT(tree->nodes) >= max)
		return NULL;
	return add_node(tree, parent, name, library, &key);
}

static void add_line(struct heap_node *node, const struct frame_name *name)
{
	if (!name->file || !name->line)
		return;
	if (!node->file)
		node->file = name->file;
	for (unsigned i = 0; i < node->line_count && i < HEAP_NODE_LINES; i++)
		if (node->lines[i] == name->line)
			return;
	if (node->line_count < HEAP_NODE_LINES)
		node->lines[node->line_count] = name->line;
	if (node->line_count <= HEAP_NODE_LINES)
		node->line_count++;
}

/* ---- stacks ---- */

/* The child of that name, or, when there is no room for it, the node. */
static struct heap_node *grow(struct planting *p, struct heap_node *node,
			      const char *name, const char *library)
{
	struct heap_node *child = child_of(p->tree, node, name, library,
					   p->max);

	p->full = !child;
	return child ? child : node;
}

/* A frame, and what is inlined there. */
static struct heap_node *grow_frame(struct planting *p, struct heap_node *node,
				    const struct frame *frame)
{
	CLEANUP(strbuf_fini) struct strbuf label = { 0 };
	const struct frame_name *names;
	size_t count = namer_names(p->export->config->namer, frame, &names);

	while (!p->full && count--) {
		strbuf_clear(&label);
		frame_text_add(frame, &names[count], &label);
		node = grow(p, node, strbuf_text(&label),
			    names[count].library);
		if (!p->full)
			add_line(node, &names[count]);
	}
	return node;
}

static struct heap_node *grow_stack(struct planting *p, stack_id stack)
{
	const struct stacks *stacks = p->export->config->stacks;
	size_t depth = stacks_depth(stacks, stack);
	struct frame *frames CLEANUP(xfree_cleanup) =
		xcalloc(depth + 1, sizeof(*frames));
	struct heap_node *node = p->tree->root;

	p->full = false;
	depth = stacks_frames(stacks, stack, frames, depth);
	if (stacks_end(stacks, stack) != STACK_COMPLETE)
		node = grow(p, node, "[...]", "");
	while (!p->full && depth--)
		node = grow_frame(p, node, &frames[depth]);
	return node;
}

static void mark_leak(struct heap_tree *tree, struct heap_node *node,
		      const struct weighed *weighed)
{
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };

	if (weighed->verdict.level != VERDICT_LIKELY)
		return;
	tree->leaks++;
	if (node->leak)
		return;
	verdict_explain(&weighed->verdict, weighed->site, &why);
	node->leak = xstrdup(strbuf_text(&why));
}

static void plant(struct planting *p, const struct weighed *weighed)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	struct heap_node *node = grow_stack(p, weighed->site->stack);

	frame_text_add_allocator(weighed->site->function->name, &name);
	if (!p->full)
		node = grow(p, node, strbuf_text(&name), "");
	if (p->full) {
		node = child_of(p->tree, node, "[smaller sites]", "", SIZE_MAX);
		p->tree->left_out++;
	}
	mark_leak(p->tree, node, weighed);
	for (; node; node = node->parent)
		node->weight += weighed->weight;
}

/* ---- the whole ---- */

static int by_importance(const void *a, const void *b)
{
	const struct weighed *left = a, *right = b;
	bool left_leaks = left->verdict.level == VERDICT_LIKELY;
	bool right_leaks = right->verdict.level == VERDICT_LIKELY;

	if (left_leaks != right_leaks)
		return left_leaks ? -1 : 1;
	if (left->weight != right->weight)
		return left->weight > right->weight ? -1 : 1;
	return left->site->number < right->site->number ? -1 : 1;
}

static size_t weigh_sites(const struct heap_export *export,
			  struct weighed *ret)
{
	const struct heap *heap = export->process->heap;
	size_t count = 0;

	for (size_t i = 1; i <= heap_site_count(heap); i++) {
		const struct site *site = heap_site(heap, i);
		uint64_t weight = heap_export_weight(export, site);

		if (weight)
			ret[count++] = (struct weighed){
				site, weight, verdict_of(heap, site, export->survey)
			};
	}
	qsort(ret, count, sizeof(*ret), by_importance);
	return count;
}

static int by_weight(const struct heap_node *a, const struct heap_node *b)
{
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void arrange(struct heap_tree *tree)
{
	struct heap_node *node, *child, *next;

	HASH_ITER(hh, tree->nodes, node, next)
		LL_SORT2(node->child, by_weight, next);
	/* Parents were added before their children. */
	HASH_ITER(hh, tree->nodes, node, next) {
		uint64_t start = node->start;

		LL_FOREACH2(node->child, child, next) {
			child->start = start;
			start += child->weight;
		}
	}
}

struct heap_tree *heap_tree_new(const struct heap_export *export, size_t max)
{
	struct heap_tree *tree = xcalloc(1, sizeof(*tree));
	struct planting planting = { export, tree, max, false };
	struct weighed *sites CLEANUP(xfree_cleanup) =
		xcalloc(heap_site_count(export->process->heap) + 1,
			sizeof(*sites));
	size_t count = weigh_sites(export, sites);

	tree->root = child_of(tree, NULL, "all", "", SIZE_MAX);
	for (size_t i = 0; i < count; i++)
		plant(&planting, &sites[i]);
	arrange(tree);
	return tree;
}

void heap_tree_free(struct heap_tree *tree)
{
	struct heap_node *node, *next;

	if (!tree)
		return;
	HASH_ITER(hh, tree->nodes, node, next) {
		HASH_DEL(tree->nodes, node);
		free(node->key);
		free(node->leak);
		free(node);
	}
	free(tree);
}

const struct heap_node *heap_tree_next(const struct heap_node *node)
{
	if (node->child)
		return node->child;
	while (node && !node->next)
		node = node->parent;
	return node ? node->next : NULL;
}
