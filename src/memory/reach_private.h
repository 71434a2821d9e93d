/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_REACH_PRIVATE_H
#define CALLTRAP_REACH_PRIVATE_H

#include "memory/finder.h"
#include "memory/reach.h"

struct tarjan;

/* Words that may point at blocks wait for these to come into the processor's
   caches: so many of them. */
#define REACH_PENDING 32

struct reach_pending {
	struct block *block;
	uint64_t word;
	taddr_t where;
};

/* While it is being found out. */
struct reacher {
	const struct picture *picture;
	const struct mappings *mappings;
	struct glibc *glibc;
	struct finder finder;
	size_t run; /* of the picture, that was looked through last */
	struct reach_result *result;
	uint32_t *queue; /* blocks whose contents are to be looked through */
	size_t head, tail, room;
	struct reach_pending pending[REACH_PENDING]; /* a ring */
	unsigned pending_first, pending_count;
	uint32_t *seeds; /* … and those that were pointed into */
	size_t seed_count, seed_room;
	struct tarjan *tarjan;         /* while rings are looked for */
	const struct reach_rule *rule; /* or NULL */
};

/* A word that points into a block; where it lies. */
typedef void reach_found(struct reacher *reacher, struct block *block,
			 uint64_t pointer, taddr_t where);

/* Looks through memory, or what a block holds. */
void reach_scan(struct reacher *reacher, taddr_t start, taddr_t end,
		reach_found *found);
void reach_scan_block(struct reacher *reacher, const struct block *block,
		      reach_found *found);

void reach_push(struct reacher *reacher, const struct block *block);

/* All that isn't the allocator's. */
void reach_scan_roots(struct reacher *reacher, const struct freeze *frozen,
		      reach_found *found);

/* Of a thread that has ended: nothing in it is used, but the vector of its
   thread-local blocks will be. */
struct dead_stack {
	taddr_t start, end;
	taddr_t vector;
};

/* stack: a mapping with a guard before it, which no task's stack is in. */
bool reach_find_dead_stack(const struct reacher *reacher,
			   const struct mapping *stack, struct dead_stack *ret);

/* Whether a pointer into the middle of a block is how a library holds it. */
bool reach_is_usual(struct reacher *reacher, const struct block *block,
		    uint64_t pointer);

/* Whether that is how a reached block is held: as reach_find() has seen it. */
bool reach_holds(struct reacher *reacher, const struct block *block,
		 uint64_t pointer);

/* What doesn't hold a block, unless nothing else leads there. rule: or NULL. */
static inline bool reach_passes_over(const struct reach_rule *rule,
				     const struct block *block,
				     uint64_t pointer, taddr_t where)
{
	return rule && !block->listed &&
	       rule->passes_over(rule->context, pointer, where);
}

/* Its number on the list of blocks. */
uint32_t reach_index(const struct reacher *reacher, const struct block *block);

/* Among the lost: which are so by themselves, and which are in rings. */
void reach_sort_lost(struct reacher *reacher);
void reach_find_rings(struct reacher *reacher);

#endif
