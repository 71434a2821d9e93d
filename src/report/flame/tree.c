/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/flame/tree.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/saturate.h"
#include "base/strbuf.h"
#include "base/xalloc.h"

/* With the end of each text: "ab", "c" differs from "a", "bc". */
uint64_t flame_hash(uint64_t value, const char *text)
{
	do
		value = (value ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	while (*text++);
	return value;
}

/* ---- nodes ---- */

static struct flame_node *add_node(struct flame_tree *tree,
				   struct flame_node *parent,
				   const struct flame_place *place,
				   const struct strbuf *key)
{
	struct flame_node *node = xcalloc(1, sizeof(*node));

	node->key = xmalloc(key->length + 1);
	memcpy(node->key, key->text, key->length + 1);
	node->name = node->key + (key->length - strlen(place->name));
	node->library = place->library;
	node->identity = flame_hash(flame_hash(parent ? parent->identity :
							FLAME_HASH_BEGIN,
					       place->library),
				    place->name);
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
static struct flame_node *child_of(struct flame_tree *tree,
				   struct flame_node *parent,
				   const struct flame_place *place, size_t max)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct flame_node *node;

	strbuf_printf(&key, "%p %s", (void *)parent, place->library);
	strbuf_putc(&key, '\0');
	strbuf_puts(&key, place->name);
	HASH_FIND(hh, tree->nodes, key.text, key.length, node);
	if (node)
		return node;
	if (HASH_COUNT(tree->nodes) >= max)
		return NULL;
	return add_node(tree, parent, place, &key);
}

static void add_line(struct flame_node *node, const struct flame_place *place)
{
	if (!place->file || !place->line || place->line > UINT_MAX)
		return;
	if (!node->file)
		node->file = place->file;
	for (unsigned i = 0; i < node->line_count && i < FLAME_NODE_LINES; i++)
		if (node->lines[i] == place->line)
			return;
	if (node->line_count < FLAME_NODE_LINES)
		node->lines[node->line_count] = place->line;
	if (node->line_count <= FLAME_NODE_LINES)
		node->line_count++;
}

/* ---- paths ---- */

struct flame_path flame_path_begin(struct flame_tree *tree)
{
	return (struct flame_path){ tree, tree->root, false };
}

void flame_path_add(struct flame_path *path, const struct flame_place *place)
{
	struct flame_node *child;

	if (path->full)
		return;
	child = child_of(path->tree, path->node, place, path->tree->max);
	path->full = !child;
	if (!child)
		return;
	add_line(child, place);
	path->node = child;
}

static void end(struct flame_path *path)
{
	const struct flame_place rest = { "[smaller sites]", "", NULL, 0 };

	if (!path->full)
		return;
	path->node = child_of(path->tree, path->node, &rest, SIZE_MAX);
	path->tree->left_out++;
}

struct flame_node *flame_path_weigh(struct flame_path *path, uint64_t weight)
{
	end(path);
	for (struct flame_node *node = path->node; node; node = node->parent)
		saturate_add(&node->weight, weight);
	return path->node;
}

struct flame_node *flame_path_compare(struct flame_path *path, uint64_t before,
				      uint64_t now)
{
	flame_path_weigh(path, before > now ? before : now);
	for (struct flame_node *node = path->node; node; node = node->parent) {
		saturate_add(&node->before, before);
		saturate_add(&node->now, now);
	}
	return path->node;
}

/* ---- the whole ---- */

static int by_weight(const struct flame_node *a, const struct flame_node *b)
{
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return strcmp(a->name, b->name);
}

void flame_tree_arrange(struct flame_tree *tree)
{
	struct flame_node *node, *child, *next;

	HASH_ITER(hh, tree->nodes, node, next)
		LL_SORT2(node->child, by_weight, next);
	/* Parents were added before their children. */
	HASH_ITER(hh, tree->nodes, node, next) {
		uint64_t start = node->start;

		LL_FOREACH2(node->child, child, next)
		{
			child->start = start;
			start += child->weight;
		}
	}
}

struct flame_tree *flame_tree_new(size_t max)
{
	const struct flame_place all = { "all", "", NULL, 0 };
	struct flame_tree *tree = xcalloc(1, sizeof(*tree));

	tree->max = max;
	tree->root = child_of(tree, NULL, &all, SIZE_MAX);
	return tree;
}

void flame_tree_free(struct flame_tree *tree)
{
	struct flame_node *node, *next;

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

const struct flame_node *flame_tree_next(const struct flame_node *node)
{
	if (node->child)
		return node->child;
	while (node && !node->next)
		node = node->parent;
	return node ? node->next : NULL;
}
