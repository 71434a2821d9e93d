/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/heap_reach.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "cli/complain.h"
#include "heap/reached.h"
#include "heap/survey.h"
#include "memory/owners.h"

/* Nobody has asked for a long wait, nor for much memory of this machine. */
#define MOST         (UINT64_C(4) << 30)
#define MOST_STOPPED (UINT64_C(64) << 20)

/* Who may own more than half of a site's bytes: all others outvote nobody else
   (Boyer and Moore). */
struct likely_owner {
	uint32_t owner;
	uint64_t weight;
};

struct looking {
	struct heap_reach *reach;
	const struct heap *heap;
	const struct leaks *leaks;
	struct owners owners;
	struct likely_owner *candidates; /* by site->number - 1 */
	uint64_t *found, *gone;          /* by family->index */
	uint64_t now;
};

/* What malloc adds to a request: a few words, or the rest of a page. */
#define ADDED        64
#define ADDED_MAPPED 8192

static bool may_have(const struct block *block, uint64_t size)
{
	const uint64_t usable = block_usable(block);

	return usable >= size &&
	       usable - size < (block->mapped ? ADDED_MAPPED : ADDED);
}

/* NULL: it was given back when we had left, and the place may be taken. */
static const struct block *find(const struct looking *looking,
				const struct heap_block *block)
{
	const struct block *found =
		blocks_at(&looking->leaks->glibc.blocks, block->handle);

	return found && found->state == BLOCK_USED &&
			       may_have(found, block->size) ?
		       found :
		       NULL;
}

static uint32_t owner_of(const struct looking *looking,
			 const struct block *block)
{
	return looking->owners.of[block - looking->leaks->glibc.blocks.list];
}

static void vote(struct likely_owner *candidate, uint32_t owner, uint64_t bytes)
{
	if (candidate->owner == owner) {
		candidate->weight += bytes;
	} else if (candidate->weight >= bytes) {
		candidate->weight -= bytes;
	} else {
		candidate->owner = owner;
		candidate->weight = bytes - candidate->weight;
	}
}

/* As verdicts count it. */
static bool is_old(const struct looking *looking,
		   const struct heap_block *block)
{
	const struct site *site = block->site;
	const uint64_t until = heap_busy_until(looking->heap,
					       site->function->family,
					       looking->now);

	return block->birth + site_old_age(site) < until;
}

static void count(struct looking *looking, const struct heap_block *block)
{
	const size_t number = block->site->number - 1;
	const struct block *found = find(looking, block);
	struct heap_reach *reach = looking->reach;
	struct site_reach *site = &reach->sites[number];
	bool lost;

	if (!found) {
		looking->gone[block->site->function->family->index]++;
		return;
	}
	looking->found[block->site->function->family->index]++;
	vote(&looking->candidates[number], owner_of(looking, found),
	     block->size);
	lost = (found->mark == REACH_DEFINITE ||
		found->mark == REACH_INDIRECT) &&
	       !heap_block_may_be_under_way(block, looking->now);
	site->blocks++;
	site->bytes += block->size;
	site->lost_blocks += lost;
	site->lost_bytes += lost ? block->size : 0;
	site->listed_blocks += !lost && found->listed;
	site->listed_old += !lost && found->listed && is_old(looking, block);
}

static void count_own(struct looking *looking, const struct heap_block *block)
{
	const size_t number = block->site->number - 1;
	const uint32_t owner = looking->candidates[number].owner;
	const struct block *found = find(looking, block);

	if (found && owner && owner_of(looking, found) == owner)
		looking->reach->sites[number].own_bytes += block->size;
}

/* It is as the target's files have it. */
static char *shown(const char *name)
{
	char *copy = xstrdup(name);

	printable_make(copy, strlen(copy));
	return copy;
}

static void name_owners(struct looking *looking)
{
	for (size_t i = 0; i < looking->reach->count; i++) {
		struct site_reach *site = &looking->reach->sites[i];
		const uint32_t owner = looking->candidates[i].owner;

		if (site->own_bytes > site->bytes / 2)
			site->owner = shown(looking->owners.names[owner]);
	}
}

static void sum_up(struct heap_reach *reach)
{
	for (size_t i = 0; i < reach->count; i++) {
		const struct site_reach *site = &reach->sites[i];

		reach->all.blocks += site->blocks;
		reach->all.bytes += site->bytes;
		reach->all.lost_blocks += site->lost_blocks;
		reach->all.lost_bytes += site->lost_bytes;
		reach->all.listed_blocks += site->listed_blocks;
	}
}

/* Blocks of an allocator that lies within another one's are none of these. */
static void count_gone(struct looking *looking)
{
	for (size_t i = 0; i < heap_family_count(looking->heap); i++)
		if (!i || looking->found[i])
			looking->reach->gone += looking->gone[i];
}

static void each_block(struct looking *looking, const struct heap *heap,
		       void (*act)(struct looking *, const struct heap_block *))
{
	struct heap_walk walk = { 0 };
	struct heap_block block;

	while (heap_next_block(heap, &walk, &block))
		if (block.site->function->family->has_size)
			act(looking, &block);
}

static void count_all(struct heap_reach *reach, const struct heap *heap,
		      const struct leaks *leaks)
{
	struct looking looking = {
		.reach = reach, .heap = heap, .leaks = leaks, .now = clock_now()
	};

	reach->count = heap_site_count(heap);
	reach->sites = xcalloc(reach->count + 1, sizeof(*reach->sites));
	reach->pause_ns = leaks->pause_ns;
	reach->copied = leaks->copied;
	looking.candidates =
		xcalloc(reach->count + 1, sizeof(*looking.candidates));
	looking.found =
		xcalloc(heap_family_count(heap) + 1, sizeof(*looking.found));
	looking.gone =
		xcalloc(heap_family_count(heap) + 1, sizeof(*looking.gone));
	owners_find(leaks, &looking.owners);
	each_block(&looking, heap, count);
	count_gone(&looking);
	each_block(&looking, heap, count_own);
	name_owners(&looking);
	owners_fini(&looking.owners);
	free(looking.candidates);
	free(looking.found);
	free(looking.gone);
	sum_up(reach);
}

/* What couldn't be read might have led to blocks. */
static char *refuse(const struct leaks *leaks)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	if (!glibc_is_understood(&leaks->glibc))
		return xstrdup("its heap isn't understood");
	if (!leaks->picture.unread)
		return NULL;
	strbuf_add_grouped(&text, leaks->picture.unread);
	strbuf_puts(&text, " bytes of its memory can't be read");
	return xstrdup(strbuf_text(&text));
}

static void look(struct heap_reach *reach, const struct watched *process)
{
	const struct leaks_options how = {
		.listed = true,
		.copy = true,
		.most = MOST,
		.most_stopped = MOST_STOPPED,
	};
	struct leaks leaks;

	if (leaks_find(process->pid, &how, &leaks, &reach->why_not))
		return;
	if (leaks.zombie)
		complain(0,
			 "process %d has a copy of itself among its "
			 "children that has ended, and that couldn't be "
			 "reaped",
			 (int)process->pid);
	reach->why_not = refuse(&leaks);
	if (!reach->why_not)
		count_all(reach, process->heap, &leaks);
	leaks_fini(&leaks);
}

static bool holds_any(const struct heap *heap)
{
	uint64_t blocks = 0;

	for (size_t i = 0; i < heap_family_count(heap); i++)
		if (heap_family(heap, i)->has_size)
			blocks +=
				heap_total(heap, heap_family(heap, i))->blocks;
	return blocks != 0;
}

void heap_reach_look(const struct watched *process)
{
	struct heap_reach *reach;
	sigset_t all, old;

	if (!holds_any(process->heap))
		return;
	reach = xcalloc(1, sizeof(*reach));

	/* Who ends us in the middle would leave waits interrupted. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	look(reach, process);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	heap_set_reach(process->heap, reach);
}
