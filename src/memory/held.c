/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/held.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"
#include "memory/held_graph.h"

/* Names below names; what is more counts with what is above it. */
#define HELD_MAX (1u << 18)

/* What makes a node of the tree, below another one. */
enum held_kind {
	HELD_PLACE, /* value: a node of the graph */
	HELD_CLASS, /* value: its name's address: one for one class */
	HELD_SIZE,
	HELD_SEVERAL,
};

struct held_key {
	uint64_t above, kind, value;
};

struct held_entry {
	struct held_key key;
	size_t index;
	UT_hash_handle hh;
};

struct holding {
	const struct leaks *leaks;
	struct block_names *names;
	const struct held_graph *graph;
	struct held_entry *entries;
	struct held_key *keys; /* of each of the tree's */
	size_t key_room;
	struct held_tree *tree;
	uint32_t *of; /* of each node of the graph: which of the tree's */
	size_t run;   /* of the picture */
};

static size_t add(struct holding *holding, const struct held_key *key,
		  char *name)
{
	struct held_tree *tree = holding->tree;

	tree->list = xgrow(tree->list, tree->count, &tree->room,
			   sizeof(*tree->list));
	holding->keys = xgrow(holding->keys, tree->count, &holding->key_room,
			      sizeof(*holding->keys));
	holding->keys[tree->count] = *key;
	tree->list[tree->count] =
		(struct held){ .name = name, .above = key->above };
	return tree->count++;
}

static bool is_block(const struct holding *holding, uint32_t node)
{
	return node && node <= holding->graph->blocks;
}

static const struct block *block_of(const struct holding *holding,
				    uint32_t node)
{
	return &holding->leaks->glibc.blocks.list[node - 1];
}

static struct held_key key_of(struct holding *holding, uint32_t node,
			      size_t above)
{
	const char *class;

	if (!is_block(holding, node))
		return (struct held_key){ above, HELD_PLACE, node };
	class = block_names_class(holding->names, block_of(holding, node));
	return class ? (struct held_key){ above, HELD_CLASS,
					  (uintptr_t) class } :
		       (struct held_key){ above, HELD_SIZE,
					  block_usable(
						  block_of(holding, node)) };
}

static char *name_of(const struct holding *holding, const struct held_key *key)
{
	switch (key->kind) {
	case HELD_PLACE:
		return xstrdup(
			held_graph_name(holding->graph, (uint32_t)key->value));
	case HELD_CLASS:
		return xstrdup((const char *)(uintptr_t)key->value);
	case HELD_SIZE:
		return xasprintf("%" PRIu64 " bytes", key->value);
	default:
		return xstrdup("several of them");
	}
}

static size_t find(struct holding *holding, const struct held_key *key)
{
	const struct held_key *above = &holding->keys[key->above];
	struct held_entry *entry;

	/* A list's tenth element, below its ninth. */
	if (key->above && key->kind == above->kind &&
	    key->value == above->value)
		return key->above;
	HASH_FIND(hh, holding->entries, key, sizeof(*key), entry);
	if (entry)
		return entry->index;
	if (holding->tree->count >= HELD_MAX) {
		holding->tree->simplified = true;
		return key->above;
	}
	entry = xcalloc(1, sizeof(*entry));
	entry->key = *key;
	entry->index = add(holding, key, name_of(holding, key));
	HASH_ADD(hh, holding->entries, key, sizeof(*key), entry);
	return entry->index;
}

static void add_block(struct holding *holding, const struct block *block,
		      struct held *held)
{
	const struct page_sums pages =
		leaks_pages(holding->leaks, block, &holding->run);

	if (!held->first)
		held->first = block->address;
	held->blocks++;
	held->bytes += block_usable(block);
	page_sums_add(&held->pages, &pages);
}

static void take(struct holding *holding, uint32_t node, uint32_t dominator)
{
	const bool block = is_block(holding, node);
	size_t above = holding->of[dominator];
	struct held_key key;

	if (block && !dominator) {
		key = (struct held_key){ 0, HELD_SEVERAL, 0 };
		above = find(holding, &key);
	}
	key = key_of(holding, node, above);
	holding->of[node] = (uint32_t)find(holding, &key);
	if (block)
		add_block(holding, block_of(holding, node),
			  &holding->tree->list[holding->of[node]]);
}

static void sum_up(struct held_tree *tree)
{
	for (size_t i = tree->count; i-- > 0;) {
		struct held *held = &tree->list[i];

		held->all_blocks += held->blocks;
		held->all_bytes += held->bytes;
		page_sums_add(&held->all_pages, &held->pages);
		if (!i)
			break;
		tree->list[held->above].all_blocks += held->all_blocks;
		tree->list[held->above].all_bytes += held->all_bytes;
		page_sums_add(&tree->list[held->above].all_pages,
			      &held->all_pages);
	}
}

static void make(struct holding *holding, const struct dominators *dominators)
{
	const struct held_key all = { 0, HELD_SEVERAL, 1 };

	(void)add(holding, &all, xstrdup("all"));
	for (uint32_t i = 1; i < dominators->reached; i++) {
		const uint32_t node = dominators->order[i];

		take(holding, node, dominators->of[node]);
	}
	sum_up(holding->tree);
}

static void free_holding(struct holding *holding)
{
	struct held_entry *entry, *next;

	HASH_ITER(hh, holding->entries, entry, next) {
		HASH_DEL(holding->entries, entry);
		free(entry);
	}
	free(holding->keys);
	free(holding->of);
}

int held_find(const struct leaks *leaks, struct block_names *names,
	      struct held_tree *ret)
{
	struct held_graph graph;
	struct dominators dominators;
	struct holding holding = {
		.leaks = leaks, .names = names, .graph = &graph, .tree = ret
	};
	int err = held_graph_make(leaks, names, &graph);

	*ret = (struct held_tree){ .pages_known = leaks_pages_known(leaks),
				   .huge_known = leaks_huge_known(leaks) };
	if (!err) {
		holding.of = xcalloc(graph.edges.count, sizeof(*holding.of));
		dominators_find(&graph.edges, &dominators);
		make(&holding, &dominators);
		ret->curtailed = block_names_is_curtailed(names);
		dominators_fini(&dominators);
		held_graph_fini(&graph);
		free_holding(&holding);
	}
	return err;
}

void held_fini(struct held_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		free(tree->list[i].name);
	free(tree->list);
	*tree = (struct held_tree){ .list = NULL };
}
