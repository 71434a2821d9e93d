/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/reach.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/xalloc.h"
#include "memory/reach_private.h"

void reach_push(struct reacher *reacher, const struct block *block)
{
	reacher->queue = xgrow(reacher->queue, reacher->tail, &reacher->room,
			       sizeof(*reacher->queue));
	reacher->queue[reacher->tail++] =
		(uint32_t)(block - reacher->glibc->blocks.list);
}

/* ---- words ---- */

static void settle_first(struct reacher *reacher, reach_found *found)
{
	const struct reach_pending first =
		reacher->pending[reacher->pending_first];

	reacher->pending_first = (reacher->pending_first + 1) % REACH_PENDING;
	reacher->pending_count--;
	if (finder_is_in(first.block, first.word))
		found(reacher, first.block, first.word, first.where);
}

static void settle(struct reacher *reacher, reach_found *found)
{
	while (reacher->pending_count)
		settle_first(reacher, found);
}

/* A look at a block is a wait for memory: others are fetched meanwhile. */
static void defer(struct reacher *reacher, struct block *block, uint64_t word,
		  taddr_t where, reach_found *found)
{
	unsigned last;

	__builtin_prefetch(block);
	if (reacher->pending_count == REACH_PENDING)
		settle_first(reacher, found);
	last = (reacher->pending_first + reacher->pending_count++) %
	       REACH_PENDING;
	reacher->pending[last] = (struct reach_pending){ block, word, where };
}

static void scan_bytes(struct reacher *reacher, taddr_t where,
		       const uint8_t *bytes, size_t size, reach_found *found)
{
	const struct finder *finder = &reacher->finder;
	const uint64_t address = ~reacher->mappings->tags;

	for (size_t at = 0; at + 8 <= size; at += 8) {
		struct block *block;
		uint64_t word;

		memcpy(&word, bytes + at, sizeof(word));
		word &= address;
		if (__builtin_expect(!finder_may_have(finder, word), 1))
			continue;
		block = finder_guess(&reacher->finder, word);
		if (block)
			defer(reacher, block, word, where + at, found);
	}
}

static void scan(struct reacher *reacher, taddr_t start, taddr_t end,
		 reach_found *found)
{
	struct picture_part part;

	start = (start + 7) & ~(taddr_t)7;
	while (picture_next(reacher->picture, &reacher->run, start, end,
			    &part)) {
		scan_bytes(reacher, part.start, part.bytes,
			   part.end - part.start, found);
		start = part.end;
	}
}

void reach_scan(struct reacher *reacher, taddr_t start, taddr_t end,
		reach_found *found)
{
	scan(reacher, start, end, found);
	settle(reacher, found);
}

void reach_scan_block(struct reacher *reacher, const struct block *block,
		      reach_found *found)
{
	reach_scan(reacher, block->address,
		   block->address + block_filled(block), found);
}

/* ---- reached ---- */

static void note_way(struct reacher *reacher, const struct block *block,
		     taddr_t where)
{
	taddr_t *ways = reacher->result->ways;

	if (ways)
		ways[block - reacher->glibc->blocks.list] = where;
}

static bool is_passed_over(const struct reacher *reacher, uint64_t pointer,
			   taddr_t where)
{
	const struct reach_rule *rule = reacher->rule;

	return rule && rule->passes_over(rule->context, pointer, where);
}

static void found_by_reached(struct reacher *reacher, struct block *block,
			     uint64_t pointer, taddr_t where)
{
	if (block->mark == REACH_REACHED ||
	    is_passed_over(reacher, pointer, where))
		return;
	if (pointer == block->address ||
	    reach_is_usual(reacher, block, pointer)) {
		block->mark = REACH_REACHED;
		note_way(reacher, block, where);
		reach_push(reacher, block);
	} else if (block->mark == REACH_LOST) {
		block->mark = REACH_POSSIBLE;
		note_way(reacher, block, where);
		reacher->seeds = xgrow(reacher->seeds, reacher->seed_count,
				       &reacher->seed_room,
				       sizeof(*reacher->seeds));
		reacher->seeds[reacher->seed_count++] =
			(uint32_t)(block - reacher->glibc->blocks.list);
	}
}

static void found_by_possible(struct reacher *reacher, struct block *block,
			      uint64_t pointer, taddr_t where)
{
	if (block->mark != REACH_LOST ||
	    is_passed_over(reacher, pointer, where))
		return;
	block->mark = REACH_POSSIBLE;
	note_way(reacher, block, where);
	reach_push(reacher, block);
}

/* So far ahead in the queue blocks are fetched, and what they hold. */
#define AHEAD_BLOCK   32
#define AHEAD_CONTENT 16

static void fetch_ahead(struct reacher *reacher)
{
	const struct block *blocks = reacher->glibc->blocks.list;
	const size_t left = reacher->tail - reacher->head;

	if (left > AHEAD_BLOCK)
		__builtin_prefetch(
			&blocks[reacher->queue[reacher->head + AHEAD_BLOCK]]);
	if (left > AHEAD_CONTENT)
		picture_fetch(
			reacher->picture, &reacher->run,
			blocks[reacher->queue[reacher->head + AHEAD_CONTENT]]
				.address);
}

static void drain(struct reacher *reacher, reach_found *found)
{
	const struct blocks *blocks = &reacher->glibc->blocks;

	for (;;) {
		const struct block *block;

		if (reacher->head == reacher->tail)
			settle(reacher, found);
		if (reacher->head == reacher->tail)
			break;
		fetch_ahead(reacher);
		block = &blocks->list[reacher->queue[reacher->head++]];
		scan(reacher, block->address,
		     block->address + block_filled(block), found);
	}
	reacher->head = reacher->tail = 0;
}

/* What only a pointer into its middle leads to, and what that leads to. */
static void follow_seeds(struct reacher *reacher)
{
	for (size_t i = 0; i < reacher->seed_count; i++) {
		const struct block *block =
			&reacher->glibc->blocks.list[reacher->seeds[i]];

		if (block->mark == REACH_POSSIBLE)
			reach_push(reacher, block);
	}
	drain(reacher, found_by_possible);
}

/* What others take of the machine is no speed of ours. */
static uint64_t processor_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void count(struct reacher *reacher)
{
	const struct blocks *blocks = &reacher->glibc->blocks;

	for (size_t i = 0; i < blocks->count; i++) {
		const struct block *block = &blocks->list[i];
		struct reach_total *total =
			&reacher->result->totals[block->mark];

		if (block->state != BLOCK_USED || block->own)
			continue;
		total->blocks++;
		total->bytes += block_usable(block);
		reacher->result->block_bytes += block_usable(block);
	}
}

static void mark_all(struct reacher *reacher, const struct freeze *frozen)
{
	reach_scan_roots(reacher, frozen, found_by_reached);
	drain(reacher, found_by_reached);
	follow_seeds(reacher);
}

static void reacher_fini(struct reacher *reacher)
{
	finder_fini(&reacher->finder);
	free(reacher->queue);
	free(reacher->seeds);
}

void reach_mark(const struct picture *picture, const struct mappings *mappings,
		const struct freeze *frozen, struct glibc *glibc,
		const struct reach_rule *rule)
{
	struct reach_result none = { .rings = NULL };
	struct reacher reacher = {
		.picture = picture,
		.mappings = mappings,
		.glibc = glibc,
		.result = &none,
		.rule = rule,
	};

	finder_init(&reacher.finder, glibc);
	mark_all(&reacher, frozen);
	reacher_fini(&reacher);
}

/* What is left: only words that were passed over lead there. */
static void follow_passed_over(struct reacher *reacher,
			       const struct freeze *frozen)
{
	struct blocks *blocks = &reacher->glibc->blocks;

	reacher->rule = NULL;
	reacher->result->root_bytes = 0;
	for (size_t i = 0; i < blocks->count; i++) {
		struct block *block = &blocks->list[i];

		block->listed = block_is_used(block) &&
				block->mark != REACH_REACHED;
		if (block->mark == REACH_REACHED)
			reach_push(reacher, block);
	}
	mark_all(reacher, frozen);
}

/*
 * Pieces of an interpreter's pools that nothing leads to aren't understood: they
 * are what pools were before, memory that may hold something.
 */
static void follow_pieces(struct reacher *reacher)
{
	for (size_t i = 0; i < reacher->glibc->part_count; i++) {
		const struct glibc_part *part = &reacher->glibc->parts[i];
		struct block *block = &reacher->glibc->blocks.list[part->first];
		const struct block *end = block + part->count;

		for (; part->objects && block < end; block++) {
			if (block->mark == REACH_REACHED)
				continue;
			block->own = true;
			reach_scan_block(reacher, block, found_by_reached);
		}
	}
	drain(reacher, found_by_reached);
	follow_seeds(reacher);
}

void reach_find(const struct picture *picture, const struct mappings *mappings,
		const struct freeze *frozen, struct glibc *glibc,
		const struct reach_options *options, struct reach_result *ret)
{
	struct reacher reacher = {
		.picture = picture,
		.mappings = mappings,
		.glibc = glibc,
		.result = ret,
		.rule = options->rule,
	};
	const uint64_t begin = processor_time();

	*ret = (struct reach_result){ .rings = NULL };
	if (options->ways)
		ret->ways =
			xcalloc(glibc->blocks.count + 1, sizeof(*ret->ways));
	finder_init(&reacher.finder, glibc);
	mark_all(&reacher, frozen);
	if (options->rule) {
		follow_passed_over(&reacher, frozen);
		follow_pieces(&reacher);
	}
	ret->scan_ns = processor_time() - begin;
	reach_find_rings(&reacher);
	reach_sort_lost(&reacher);
	count(&reacher);
	reacher_fini(&reacher);
}

void reach_result_fini(struct reach_result *result)
{
	free(result->rings);
	free(result->ways);
	*result = (struct reach_result){ .rings = NULL };
}
