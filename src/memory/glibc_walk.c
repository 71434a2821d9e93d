/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "memory/glibc_private.h"

/* Chunks lie in a row: each says how long it is, and whether the one before it
   is in use. Those in lists of one size look used, and are told by the lists. */

struct chunk {
	taddr_t address;
	uint64_t before; /* size of the one before, if that is free */
	uint64_t size;
	unsigned flags;
};

static bool read_chunk(struct window *window, taddr_t address,
		       struct chunk *ret)
{
	uint64_t words[2];

	if (memory_read(&window->memory, address, words, sizeof(words)))
		return false;
	*ret = (struct chunk){
		.address = address,
		.before = words[0],
		.size = words[1] & ~(uint64_t)CHUNK_FLAGS,
		.flags = words[1] & CHUNK_FLAGS,
	};
	return true;
}

static void add(struct glibc *glibc, const struct chunk *chunk,
		enum block_state state, bool mapped)
{
	blocks_add(&glibc->blocks,
		   &(struct block){
			   .address = chunk->address + BLOCK_UNIT,
			   .units = (uint32_t)(chunk->size / BLOCK_UNIT),
			   .state = state,
			   /* The last word lies in the next block, if there
			      is one. */
			   .behind = mapped ? 16 : 8,
			   .mapped = mapped,
		   });
}

/* Why a chunk can't be one, or NULL. */
static const char *wrong_with(const struct chunk *chunk,
			      const struct glibc_arena *arena,
			      const struct chunk *last, taddr_t end)
{
	if (chunk->size % BLOCK_UNIT || chunk->size < CHUNK_LEAST ||
	    chunk->size / BLOCK_UNIT > UINT32_MAX)
		return "a chunk has an impossible size";
	if (chunk->size > end - chunk->address)
		return "a chunk is longer than its arena";
	/* Free ones and the top don't say that they are in another arena. */
	if (chunk->flags & CHUNK_MAPPED ||
	    (arena->main && chunk->flags & CHUNK_OTHER_ARENA))
		return "a chunk belongs to another arena";
	if (!(chunk->flags & CHUNK_PREV_IN_USE) &&
	    (!last || chunk->before != last->size))
		return "a chunk and the free one before it disagree";
	return NULL;
}

static void set_trouble(struct glibc_arena *arena, taddr_t where,
			const char *why)
{
	if (arena->why)
		return;
	arena->trouble = where;
	arena->why = why;
}

/* A part that doesn't have the top ends in fences, the last of size 0. */
static bool is_end(const struct chunk *chunk, const struct chunk *last)
{
	return !chunk->size && last && last->size == CHUNK_FENCE;
}

static void free_last(struct glibc *glibc, const struct glibc_part *part,
		      const struct chunk *chunk)
{
	struct blocks *blocks = &glibc->blocks;

	if (!(chunk->flags & CHUNK_PREV_IN_USE) && blocks->count > part->first)
		blocks->list[blocks->count - 1].state = BLOCK_FREE;
}

static void walk(struct window *window, struct glibc *glibc,
		 struct glibc_part *part)
{
	struct glibc_arena *arena = &glibc->arenas[part->arena];
	struct chunk chunk, last = { 0 };
	taddr_t address = part->start;
	const char *why = NULL;

	for (; !why; address += chunk.size, last = chunk) {
		const struct chunk *before = last.size ? &last : NULL;
		enum block_state state = BLOCK_USED;

		if (address >= part->end ||
		    !read_chunk(window, address, &chunk)) {
			why = "the chunks don't end at the top";
			break;
		}
		if (is_end(&chunk, before))
			break;
		if (chunk.size == CHUNK_FENCE)
			state = BLOCK_FENCE;
		else
			why = wrong_with(&chunk, arena, before, part->end);
		if (why)
			break;
		free_last(glibc, part, &chunk);
		if (address == arena->top)
			state = BLOCK_TOP;
		add(glibc, &chunk, state, false);
		if (state == BLOCK_TOP)
			break;
	}
	if (!why)
		return;
	set_trouble(arena, address, why);
	/* What is there may hold blocks that nobody knows. */
	part->whole_end = address;
}

void glibc_walk(struct window *window, struct glibc *glibc,
		struct glibc_part *part)
{
	struct chunk chunk;

	part->first = glibc->blocks.count;
	if (!part->mapped)
		walk(window, glibc, part);
	else if (read_chunk(window, part->start, &chunk) &&
		 chunk.size == part->end - part->start &&
		 chunk.size / BLOCK_UNIT <= UINT32_MAX)
		add(glibc, &chunk, BLOCK_USED, true);
	part->count = glibc->blocks.count - part->first;
}
