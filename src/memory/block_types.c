/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/block_types.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"

/* So many pointers are told apart: each may be a question to the process that
   reads debug information. */
#define POINTERS_MAX (1u << 14)

/* Numbers that are no declared pointer's: nobody has looked, nothing is known. */
#define UNSEEN  0
#define UNKNOWN 1
#define FIRST   2

/* Blocks behind pointers of one declaration are one. */
struct declared_key {
	uint64_t above; /* number of the pointer that leads to where it is; 0:
			   it is in no block … */
	uint64_t at;    /* … but there; else where in that */
};

struct declared {
	struct declared_key key;
	uint32_t number; /* UNKNOWN: it isn't told */
	UT_hash_handle hh;
};

struct pointer_told {
	const struct declared *declared;
	struct debug_step step;
	unsigned depth; /* pointers that lead to it, from the variable's on */
};

struct block_types {
	const struct leaks *leaks;
	struct root_names *roots;
	struct declared *known;
	struct pointer_told *told; /* by number */
	size_t count, room;
	uint32_t *of; /* of each block: the number of the pointer to it */
	/* What is being followed: from a block back to what is known. */
	const struct block **way;
	size_t way_count, way_room;
};

static uint32_t number_of(const struct block_types *types,
			  const struct block *block)
{
	return types->of[block - types->leaks->glibc.blocks.list];
}

static void set(struct block_types *types, const struct block *block,
		uint32_t number)
{
	types->of[block - types->leaks->glibc.blocks.list] = number;
}

static taddr_t pointer_to(const struct block_types *types,
			  const struct block *block)
{
	return types->leaks->reach.ways[block - types->leaks->glibc.blocks.list];
}

/* One into the middle of a block is of something within. */
static bool is_plain(const struct block_types *types, const struct block *block)
{
	struct picture *picture = (struct picture *)&types->leaks->picture;
	uint64_t word;

	return !memory_read(&picture->memory, pointer_to(types, block), &word,
			    sizeof(word)) &&
	       word == block->address;
}

/* ---- pointers that were asked about ---- */

static struct declared *declared_at(struct block_types *types, uint32_t above,
				    uint64_t at)
{
	const struct declared_key key = { above, at };
	struct declared *declared;

	HASH_FIND(hh, types->known, &key, sizeof(key), declared);
	return declared;
}

static uint32_t keep(struct block_types *types, uint32_t above, uint64_t at,
		     const struct debug_step *step)
{
	struct declared *declared = xcalloc(1, sizeof(*declared));

	declared->key = (struct declared_key){ above, at };
	declared->number = UNKNOWN;
	HASH_ADD(hh, types->known, key, sizeof(declared->key), declared);
	if (!step)
		return UNKNOWN;
	declared->number = (uint32_t)types->count;
	types->told = xgrow(types->told, types->count, &types->room,
			    sizeof(*types->told));
	types->told[types->count++] = (struct pointer_told){
		.declared = declared,
		.step = *step,
		.depth = above ? types->told[above].depth + 1 : 0,
	};
	return declared->number;
}

/* Where the pointers lie that lead to that one; returns the first's address. */
static taddr_t way_to(const struct block_types *types, uint32_t above,
		      uint64_t offsets[DEBUG_STEPS_MAX])
{
	taddr_t where = 0;

	while (above) {
		const struct pointer_told *told = &types->told[above];

		if (told->depth)
			offsets[told->depth - 1] = told->declared->key.at;
		else
			where = told->declared->key.at;
		above = (uint32_t)told->declared->key.above;
	}
	return where;
}

/* Of the next block on the way, and of those behind it while it is asked. */
static void ask(struct block_types *types, uint32_t above, const uint64_t *at,
		size_t count)
{
	const unsigned before = above ? types->told[above].depth + 1 : 0;
	struct debug_step steps[DEBUG_STEPS_MAX];
	uint64_t offsets[DEBUG_STEPS_MAX];
	taddr_t where = way_to(types, above, offsets);
	uint32_t number = above;
	unsigned told;

	if (count > DEBUG_STEPS_MAX - before)
		count = DEBUG_STEPS_MAX - before;
	if (!before)
		where = at[0];
	for (size_t i = !before; i < count; i++)
		offsets[before + i - 1] = at[i];
	told = root_names_way(types->roots, where, offsets,
			      before + (unsigned)count - 1, steps);
	for (size_t i = 0; i < count; i++) {
		const bool known = before + i < told;

		number = keep(types, number, at[i],
			      known ? &steps[before + i] : NULL);
		if (!known)
			break;
	}
}

/* ---- ways ---- */

/* Back from a block to one that was looked at before, or to the root; ways are
   a tree, as each leads to what was found earlier. */
static uint32_t follow_back(struct block_types *types,
			    const struct block *block)
{
	const struct blocks *blocks = &types->leaks->glibc.blocks;

	types->way_count = 0;
	while (block && !number_of(types, block) &&
	       types->way_count <= blocks->count) {
		types->way = xgrow(types->way, types->way_count,
				   &types->way_room, sizeof(*types->way));
		types->way[types->way_count++] = block;
		block = blocks_around(blocks, pointer_to(types, block));
	}
	return block ? number_of(types, block) : 0;
}

/* Where the pointer to a block lies, as its declaration is known by. */
static uint64_t place_of(const struct block_types *types,
			 const struct block *block)
{
	const taddr_t where = pointer_to(types, block);
	const struct block *in =
		blocks_around(&types->leaks->glibc.blocks, where);

	return in ? where - in->address : where;
}

/* Those that can be asked about at once, from the root's side on. */
static size_t places_on(const struct block_types *types, size_t from,
			uint64_t ret[DEBUG_STEPS_MAX])
{
	size_t count = 0;

	for (size_t i = from; i-- > 0 && count < DEBUG_STEPS_MAX; count++) {
		if (!is_plain(types, types->way[i]))
			break;
		ret[count] = place_of(types, types->way[i]);
	}
	return count;
}

/* The pointer to the next block on the way. */
static uint32_t step_on(struct block_types *types, size_t from, uint32_t above)
{
	const struct block *block = types->way[from - 1];
	uint64_t at[DEBUG_STEPS_MAX];
	const struct declared *declared;

	if (above == UNKNOWN ||
	    (above && types->told[above].depth + 1 >= DEBUG_STEPS_MAX) ||
	    !is_plain(types, block))
		return UNKNOWN;
	declared = declared_at(types, above, place_of(types, block));
	if (declared)
		return declared->number;
	if (HASH_COUNT(types->known) >= POINTERS_MAX)
		return UNKNOWN;
	ask(types, above, at, places_on(types, from, at));
	return declared_at(types, above, at[0])->number;
}

static void look(struct block_types *types, const struct block *block)
{
	uint32_t number = follow_back(types, block);

	for (size_t i = types->way_count; i > 0; i--) {
		number = step_on(types, i, number);
		set(types, types->way[i - 1], number);
	}
}

struct debug_step block_types_step(struct block_types *types,
				   const struct block *block)
{
	if (!types->leaks->reach.ways ||
	    (block->mark != REACH_REACHED && block->mark != REACH_POSSIBLE))
		return (struct debug_step){ .path = NULL };
	if (!number_of(types, block))
		look(types, block);
	return types->told[number_of(types, block)].step;
}

struct block_types *block_types_new(const struct leaks *leaks,
				    struct root_names *roots)
{
	struct block_types *types = xcalloc(1, sizeof(*types));

	types->leaks = leaks;
	types->roots = roots;
	types->of = xcalloc(leaks->glibc.blocks.count + 1, sizeof(*types->of));
	types->told = xcalloc(FIRST, sizeof(*types->told));
	types->count = types->room = FIRST;
	return types;
}

void block_types_free(struct block_types *types)
{
	struct declared *declared, *next;

	if (!types)
		return;
	HASH_ITER(hh, types->known, declared, next) {
		HASH_DEL(types->known, declared);
		free(declared);
	}
	free(types->told);
	free(types->of);
	free(types->way);
	free(types);
}
