/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/python_references.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "memory/reach_private.h"

/* More is no count of references, or says that an object is for ever. */
#define REFERENCES_MAX (UINT64_C(1) << 30)

struct checking {
	struct reacher reacher; /* first: what is found comes with it */
	struct python_types *types;
	uint32_t *objects; /* by block: where in it an object begins, + 1 */
	uint32_t *found;   /* … and how many words lead there */
};

static bool read_head(struct checking *checking, const struct block *block,
		      uint32_t at, struct python_object *ret)
{
	const struct picture *picture = checking->reacher.picture;
	bool of_lists;

	return at + sizeof(*ret) <= block_usable(block) &&
	       !memory_read((struct memory *)&picture->memory,
			    block->address + at, ret, sizeof(*ret)) &&
	       ret->references && ret->references < REFERENCES_MAX &&
	       python_types_has(checking->types, ret->type, &of_lists);
}

/* What a collector has lists of comes behind its links there, and behind two words
   more in newer versions. */
static uint32_t find_object(struct checking *checking,
			    const struct block *block)
{
	static const uint32_t in_front[] = { 16, 32, 0 };
	struct python_object head;

	for (size_t i = 0; i < ARRAY_SIZE(in_front); i++)
		if (read_head(checking, block, in_front[i], &head))
			return in_front[i] + 1;
	return 0;
}

static void found_by_garbage(struct reacher *reacher, struct block *block,
			     uint64_t pointer, taddr_t where)
{
	struct checking *checking = (struct checking *)reacher;
	const uint32_t index = reach_index(reacher, block);
	const uint32_t object = checking->objects[index];

	if (object && pointer == block->address + object - 1 &&
	    !reacher->rule->passes_over(reacher->rule->context, pointer, where))
		checking->found[index]++;
}

static void take_from_list(struct reacher *reacher, struct block *block)
{
	block->listed = false;
	reach_push(reacher, block);
}

static void found_by_kept(struct reacher *reacher, struct block *block,
			  uint64_t pointer, taddr_t where)
{
	if (block->listed &&
	    !reacher->rule->passes_over(reacher->rule->context, pointer, where))
		take_from_list(reacher, block);
}

static void count_references(struct checking *checking)
{
	struct reacher *reacher = &checking->reacher;
	const struct blocks *blocks = &reacher->glibc->blocks;

	for (size_t i = 0; i < blocks->count; i++)
		if (blocks->list[i].listed)
			checking->objects[i] =
				find_object(checking, &blocks->list[i]);
	for (size_t i = 0; i < blocks->count; i++)
		if (blocks->list[i].listed)
			reach_scan_block(reacher, &blocks->list[i],
					 found_by_garbage);
}

static void take_kept(struct checking *checking)
{
	struct reacher *reacher = &checking->reacher;
	const struct blocks *blocks = &reacher->glibc->blocks;
	struct python_object head;

	for (size_t i = 0; i < blocks->count; i++)
		if (checking->objects[i] && blocks->list[i].listed &&
		    read_head(checking, &blocks->list[i],
			      checking->objects[i] - 1, &head) &&
		    head.references > checking->found[i])
			take_from_list(reacher, &blocks->list[i]);
	while (reacher->head < reacher->tail)
		reach_scan_block(reacher,
				 &blocks->list[reacher->queue[reacher->head++]],
				 found_by_kept);
}

void python_references_check(const struct picture *picture,
			     const struct mappings *mappings,
			     struct python_types *types,
			     const struct reach_rule *rule, struct glibc *glibc)
{
	struct reach_result none = { .rings = NULL };
	struct checking checking = {
		.reacher = {
			.picture = picture,
			.mappings = mappings,
			.glibc = glibc,
			.result = &none,
			.rule = rule,
		},
		.types = types,
		.objects = xcalloc(glibc->blocks.count + 1,
				   sizeof(*checking.objects)),
		.found = xcalloc(glibc->blocks.count + 1,
				 sizeof(*checking.found)),
	};

	finder_init(&checking.reacher.finder, glibc);
	count_references(&checking);
	take_kept(&checking);
	finder_fini(&checking.reacher.finder);
	free(checking.reacher.queue);
	free(checking.objects);
	free(checking.found);
}
