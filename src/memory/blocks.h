/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_BLOCKS_H
#define CALLTRAP_BLOCKS_H

#include <stdbool.h>

#include "base/types.h"

/* What an allocator's memory is divided into. */
enum block_state {
	BLOCK_USED,
	BLOCK_TCACHE, /* free, kept for the thread that gave it back */
	BLOCK_FAST,   /* free, kept for a request of the same size */
	BLOCK_FREE,   /* free, joined with its free neighbours */
	BLOCK_TOP,    /* free, at the end of an arena */
	BLOCK_FENCE,  /* marks the end of a part; nobody can have it */
	BLOCK_STATES,
};

/* What one of an interpreter's objects keeps apart. */
enum block_part {
	BLOCK_WHOLE,
	BLOCK_KEYS,  /* of a dictionary of Python's, with its values */
	BLOCK_ITEMS, /* of a list */
	BLOCK_VALUES, /* of its attributes; held by a pointer behind their order */
	BLOCK_ARRAY,     /* items of one of Ruby's, of which some may be gone */
	BLOCK_TABLE,     /* of a Hash, with … */
	BLOCK_ENTRIES,   /* … its keys and values */
	BLOCK_VARIABLES, /* of an object of Ruby's, members of a Struct */
	BLOCK_ELEMENTS,  /* of an array of PHP's; held behind their numbers */
	BLOCK_PARTS,
};

/*
 * One of them. Memory is counted in units of 16 bytes, the allocator's own
 * words included; there may be many millions of blocks.
 */
#define BLOCK_UNIT 16
#define LEFT_MOST  15

struct block {
	taddr_t address; /* as malloc() returned it */
	uint32_t units;
	uint8_t state : 4; /* enum block_state */
	uint8_t left : 4; /* units at its end that hold what was there before */
	uint8_t behind;   /* bytes at its end that aren't the program's */
	bool own : 1;     /* the allocator's, for itself */
	bool mapped : 1;  /* has a mapping of its own */
	bool listed : 1;  /* an interpreter has dropped it */
	bool object : 1;  /* … or has it as an object */
	uint8_t part : 4; /* enum block_part */
	uint8_t mark;     /* for who asks what is reached */
};

/* All of a process, by address; they don't overlap. */
struct blocks {
	struct block *list;
	size_t count, room;
};

/* An empty list, which is not NULL. */
void blocks_init(struct blocks *blocks);
void blocks_fini(struct blocks *blocks);
void blocks_add(struct blocks *blocks, const struct block *block);

/* The block that begins there, or NULL. */
struct block *blocks_at(const struct blocks *blocks, taddr_t address);

/* The block in use, and the program's, that an address lies in, or NULL. */
struct block *blocks_around(const struct blocks *blocks, taddr_t address);

/* What it takes, where that begins, and how much of it is the program's. */
static inline uint64_t block_bytes(const struct block *block)
{
	return (uint64_t)block->units * BLOCK_UNIT;
}

static inline taddr_t block_start(const struct block *block)
{
	return block->address - BLOCK_UNIT;
}

static inline uint64_t block_usable(const struct block *block)
{
	return block_bytes(block) - block->behind;
}

/* Of that, what holds something. */
static inline uint64_t block_filled(const struct block *block)
{
	return block_usable(block) - block->left * BLOCK_UNIT;
}

/* Whether an address lies in it. A block of no bytes has its own, too. */
static inline bool block_has(const struct block *block, taddr_t address)
{
	return address == block->address ||
	       address - block->address < block_usable(block);
}

/* Whether the program has it. */
static inline bool block_is_used(const struct block *block)
{
	return block->state == BLOCK_USED && !block->own;
}

#endif
