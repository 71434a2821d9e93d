/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/block_types.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"

/* So many questions are asked of the process that reads debug information. A
   member of one type is one, in however many blocks it is. */
#define QUESTIONS_MAX (1u << 14)

/* Numbers that are no pointer's: nobody has looked, nothing is known. */
#define UNSEEN  0
#define UNKNOWN 1
#define FIRST   2

/* What pointers lie in: a variable, or blocks of one type. */
struct kind_key {
	uint64_t module; /* where the one begins that declares it; 0: … */
	uint64_t kind;   /* … a variable's address; else debug_step's kind */
};

struct kind {
	struct kind_key key;
	const struct mapping *module;
	const struct told_pointer
		*first;         /* that has led there; NULL: a variable */
	unsigned depth;         /* pointers on that way */
	uint64_t end;           /* nothing is told from there on */
	struct debug_row *rows; /* of which all elements are one */
	size_t row_count, row_room;
	UT_hash_handle hh;
};

/* Pointers of one declaration are one. */
struct pointer_key {
	uint64_t above; /* what it lies in: struct kind … */
	uint64_t at;    /* … and where; in a row's first element */
};

struct told_pointer {
	struct pointer_key key;
	uint32_t number;
	struct kind *above;
	struct kind *to; /* what it leads to; NULL: it isn't told */
	struct debug_step step;
	UT_hash_handle hh;
};

struct block_types {
	const struct leaks *leaks;
	struct root_names *roots;
	struct kind *kinds;
	struct told_pointer *known;
	struct told_pointer **pointers; /* by number */
	size_t count, room;
	unsigned questions;
	bool curtailed;
	uint32_t *of; /* of each block: the number of the pointer to it */
	char *path;   /* that was told last */
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

/* ---- what pointers lie in ---- */

static struct kind *kind_of(struct block_types *types, uint64_t module,
			    uint64_t name)
{
	const struct kind_key key = { module, name };
	struct kind *kind;

	HASH_FIND(hh, types->kinds, &key, sizeof(key), kind);
	if (kind)
		return kind;
	kind = xcalloc(1, sizeof(*kind));
	kind->key = key;
	HASH_ADD(hh, types->kinds, key, sizeof(kind->key), kind);
	return kind;
}

/* NULL: there is nothing to ask. */
static struct kind *variable_with(struct block_types *types, taddr_t where)
{
	taddr_t start;
	const struct mapping *module =
		root_names_variable_at(types->roots, where, &start);
	struct kind *kind;

	if (!module)
		return NULL;
	kind = kind_of(types, 0, start);
	kind->module = module;
	kind->end = UINT64_MAX;
	return kind;
}

static struct kind *kind_behind(struct block_types *types,
				const struct told_pointer *pointer)
{
	const struct mapping *module = pointer->above->module;
	struct kind *kind =
		kind_of(types, module->start, (uintptr_t)pointer->step.kind);

	if (kind->first)
		return kind;
	kind->module = module;
	kind->first = pointer;
	kind->depth = pointer->above->depth + 1;
	kind->end = pointer->step.end;
	return kind;
}

static bool is_in_row(const struct debug_row *row, uint64_t at)
{
	return row->size && at >= row->start && at - row->start < row->bytes;
}

/* In a row's first element what is so in all. */
static uint64_t in_first(const struct kind *kind, uint64_t at)
{
	for (size_t i = 0; i < kind->row_count; i++) {
		const struct debug_row *row = &kind->rows[i];

		if (is_in_row(row, at))
			return row->start + (at - row->start) % row->size;
	}
	return at;
}

static void add_row(struct kind *kind, const struct debug_row *row)
{
	kind->rows = xgrow(kind->rows, kind->row_count, &kind->row_room,
			   sizeof(*kind->rows));
	kind->rows[kind->row_count++] = *row;
}

static bool is_in_known_row(const struct kind *kind, uint64_t at)
{
	for (size_t i = 0; i < kind->row_count; i++)
		if (is_in_row(&kind->rows[i], at))
			return true;
	return false;
}

/* ---- pointers that were asked about ---- */

static struct told_pointer *pointer_at(struct block_types *types,
				       const struct kind *above, uint64_t at)
{
	const struct pointer_key key = { (uintptr_t)above,
					 in_first(above, at) };
	struct told_pointer *pointer;

	HASH_FIND(hh, types->known, &key, sizeof(key), pointer);
	return pointer;
}

static struct told_pointer *keep(struct block_types *types, struct kind *above,
				 uint64_t at, const struct debug_step *step)
{
	struct told_pointer *pointer = xcalloc(1, sizeof(*pointer));

	if (step && is_in_row(&step->row, at) && !is_in_known_row(above, at))
		add_row(above, &step->row);
	pointer->key =
		(struct pointer_key){ (uintptr_t)above, in_first(above, at) };
	pointer->above = above;
	HASH_ADD(hh, types->known, key, sizeof(pointer->key), pointer);
	types->pointers = xgrow(types->pointers, types->count, &types->room,
				sizeof(*types->pointers));
	pointer->number = (uint32_t)types->count;
	types->pointers[types->count++] = pointer;
	if (!step)
		return pointer;
	pointer->step = *step;
	if (step->kind)
		pointer->to = kind_behind(types, pointer);
	return pointer;
}

/* Where the pointers lie that lead there; returns the variable. */
static const struct kind *way_to(const struct kind *kind,
				 uint64_t offsets[DEBUG_STEPS_MAX])
{
	while (kind->first) {
		offsets[kind->depth - 1] = kind->first->key.at;
		kind = kind->first->above;
	}
	return kind;
}

/* Of the next block on the way, and of those behind it while it is asked. */
static struct told_pointer *ask(struct block_types *types, struct kind *kind,
				const uint64_t *at, size_t count)
{
	const unsigned before = kind->depth;
	struct debug_step steps[DEBUG_STEPS_MAX];
	uint64_t offsets[DEBUG_STEPS_MAX];
	const struct kind *variable = way_to(kind, offsets);
	struct told_pointer *first = NULL;
	int told;

	if (count > DEBUG_STEPS_MAX - before)
		count = DEBUG_STEPS_MAX - before;
	memcpy(offsets + before, at, count * sizeof(*at));
	told = root_names_way(types->roots, variable->module,
			      variable->key.kind, offsets,
			      before + (unsigned)count, steps);
	types->questions += told != -ENOENT;
	for (size_t i = 0; i < count && kind && at[i] < kind->end; i++) {
		const int step = (int)(before + i);
		struct told_pointer *pointer = pointer_at(types, kind, at[i]);

		if (!pointer)
			pointer = keep(types, kind, at[i],
				       step < told ? &steps[step] : NULL);
		if (!first)
			first = pointer;
		kind = pointer->to;
	}
	return first;
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

/* Where the pointer to a block lies, in the variable or the block. */
static uint64_t place_in(const struct block_types *types,
			 const struct block *block, const struct kind *kind)
{
	const taddr_t where = pointer_to(types, block);
	const struct block *in =
		blocks_around(&types->leaks->glibc.blocks, where);

	return where - (in ? in->address : kind->key.kind);
}

/* Those that can be asked about at once, from the root's side on. */
static size_t places_on(const struct block_types *types, size_t from,
			const struct kind *kind, uint64_t ret[DEBUG_STEPS_MAX])
{
	size_t count = 0;

	for (size_t i = from; i-- > 0 && count < DEBUG_STEPS_MAX; count++) {
		if (!is_plain(types, types->way[i]))
			break;
		ret[count] = place_in(types, types->way[i], kind);
	}
	return count;
}

/* The pointer to the next block on the way; above: the one before, or UNSEEN. */
static uint32_t step_on(struct block_types *types, size_t from, uint32_t above)
{
	const struct block *block = types->way[from - 1];
	struct kind *kind = NULL;
	uint64_t at[DEBUG_STEPS_MAX];
	struct told_pointer *pointer;

	if (above >= FIRST)
		kind = types->pointers[above]->to;
	else if (above == UNSEEN)
		kind = variable_with(types, pointer_to(types, block));
	if (!kind || !is_plain(types, block) ||
	    place_in(types, block, kind) >= kind->end)
		return UNKNOWN;
	pointer = pointer_at(types, kind, place_in(types, block, kind));
	if (pointer)
		return pointer->number;
	if (types->questions >= QUESTIONS_MAX)
		types->curtailed = true;
	if (types->curtailed || kind->depth >= DEBUG_STEPS_MAX)
		return UNKNOWN;
	return ask(types, kind, at, places_on(types, from, kind, at))->number;
}

static void look(struct block_types *types, const struct block *block)
{
	uint32_t number = follow_back(types, block);

	for (size_t i = types->way_count; i > 0; i--) {
		number = step_on(types, i, number);
		set(types, types->way[i - 1], number);
	}
}

/* Which element of a row it is in is the block's own. */
static const char *path_to(struct block_types *types, const struct block *block,
			   const struct told_pointer *pointer)
{
	const struct debug_row *row = &pointer->step.row;
	const uint64_t at = place_in(types, block, pointer->above);
	const char *path = pointer->step.path;
	const char *open = path ? strchr(path, '[') : NULL;
	const char *close = open ? strchr(open, ']') : NULL;

	if (!close || !is_in_row(row, at))
		return path;
	free(types->path);
	types->path = xasprintf("%.*s[%" PRIu64 "%s", (int)(open - path), path,
				(at - row->start) / row->size, close);
	return types->path;
}

struct debug_step block_types_step(struct block_types *types,
				   const struct block *block)
{
	const struct told_pointer *pointer;
	struct debug_step step;

	if (!types->leaks->reach.ways ||
	    (block->mark != REACH_REACHED && block->mark != REACH_POSSIBLE))
		return (struct debug_step){ .path = NULL };
	if (!number_of(types, block))
		look(types, block);
	if (number_of(types, block) < FIRST)
		return (struct debug_step){ .path = NULL };
	pointer = types->pointers[number_of(types, block)];
	step = pointer->step;
	step.path = path_to(types, block, pointer);
	return step;
}

bool block_types_are_curtailed(const struct block_types *types)
{
	return types->curtailed;
}

struct block_types *block_types_new(const struct leaks *leaks,
				    struct root_names *roots)
{
	struct block_types *types = xcalloc(1, sizeof(*types));

	types->leaks = leaks;
	types->roots = roots;
	types->of = xcalloc(leaks->glibc.blocks.count + 1, sizeof(*types->of));
	types->pointers = xcalloc(FIRST, sizeof(struct told_pointer *));
	types->count = types->room = FIRST;
	return types;
}

void block_types_free(struct block_types *types)
{
	struct kind *kind, *next;

	if (!types)
		return;
	HASH_ITER(hh, types->kinds, kind, next) {
		HASH_DEL(types->kinds, kind);
		free(kind->rows);
		free(kind);
	}
	HASH_CLEAR(hh, types->known);
	for (size_t i = FIRST; i < types->count; i++)
		free(types->pointers[i]);
	free(types->pointers);
	free(types->of);
	free(types->path);
	free(types->way);
	free(types);
}
