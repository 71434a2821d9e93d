/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/verdicts.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"
#include "heap/forecast.h"
#include "heap/slab.h"
#include "naming/origin.h"

#define DEPTH       16
#define BLOCKS_MIN  25  /* together, for LIKELY */
#define AGAIN       0.5 /* of them, by stacks that came more than once */
#define SOURCES_MAX 8   /* of a family's growth */
#define EXPLAINED   0.5 /* of it, by sites that are called something already */

/* Of very many sites most hold nothing, of which there is nothing to say. */
struct verdicts {
	struct verdict *list;
	size_t count, room;
	uint32_t *places; /* of a site, by number - 1: in the list, from 1 on */
	size_t sites;
};

static const struct verdict all_freed = { .reason = VERDICT_ALL_FREED };

const struct verdict *verdicts_site(const struct verdicts *verdicts,
				    const struct site *site)
{
	uint32_t place = site->number <= verdicts->sites ?
				 verdicts->places[site->number - 1] :
				 0;

	return place ? &verdicts->list[place - 1] : &all_freed;
}

/* That of a site that holds something. */
static struct verdict *verdict_at(struct verdicts *verdicts,
				  const struct site *site)
{
	return &verdicts->list[verdicts->places[site->number - 1] - 1];
}

/* ---- by the frame that called the allocator ---- */

struct calling_code {
	const struct code *code;
	uint64_t address;
	const struct family *family;
};

/* Sites of one caller that are not called LIKELY by themselves. */
struct caller_group {
	struct calling_code caller;
	const struct site **sites;
	size_t count, room;
	UT_hash_handle hh;
};

static bool is_of_language(const struct frame *frame)
{
	const char *soname = origin_soname(frame->code);

	return origin_is_c_library(frame) ||
	       (soname && !strncmp(soname, "libstdc++.", 10));
}

static bool caller_of(const struct stacks *stacks, const struct site *site,
		      struct calling_code *ret)
{
	struct frame frames[DEPTH];
	size_t count = stacks_frames(stacks, site->stack, frames, DEPTH);

	memset(ret, 0, sizeof(*ret));
	ret->family = site->function->family;
	for (size_t i = 0; i < count; i++) {
		if (is_of_language(&frames[i]))
			continue;
		ret->code = frames[i].code;
		ret->address = frames[i].address;
		return true;
	}
	return false;
}

static void add_to_group(struct caller_group **groups,
			 const struct calling_code *caller,
			 const struct site *site)
{
	struct caller_group *group;

	HASH_FIND(hh, *groups, caller, sizeof(*caller), group);
	if (!group) {
		group = xcalloc(1, sizeof(*group));
		memcpy(&group->caller, caller, sizeof(*caller));
		HASH_ADD(hh, *groups, caller, sizeof(*caller), group);
	}
	group->sites = xgrow(group->sites, group->count, &group->room,
			     sizeof(*group->sites));
	group->sites[group->count++] = site;
}

/* What is known to be none isn't made one by its neighbours. */
static bool may_be_part(const struct heap *heap, const struct site *site,
			const struct verdict *verdict)
{
	/* Names are looked up for the last: for few that have got so far. */
	return site->blocks && verdict->level != VERDICT_LIKELY &&
	       verdict->reason != VERDICT_REPLACED &&
	       verdict->reason != VERDICT_LISTED &&
	       verdict->reason != VERDICT_TURNOVER &&
	       verdict->reason != VERDICT_UP_AND_DOWN &&
	       !site->function->family->collected &&
	       !slab_of_collector(heap_stacks(heap), heap_namer(heap), site);
}

/* A sample stands for several. */
static uint64_t calls_seen(const struct site *site)
{
	return site->samples ? site->samples : site->alloc_blocks;
}

/*
 * Where most blocks come by a stack of their own, that may be code which runs for
 * the first time; a leak comes by the same stacks again, but for one of what calls
 * itself.
 */
static enum verdict_level level_together(const struct heap *heap,
					 const struct survey *survey,
					 const struct caller_group *group,
					 struct verdict *ret)
{
	uint64_t blocks = 0, again = 0;

	if (group->count < 2)
		return VERDICT_NOT;
	for (size_t i = 0; i < group->count; i++) {
		const struct site *site = group->sites[i];
		uint64_t seen = survey_seen(survey, site);

		if (site->lifetimes.count)
			return VERDICT_NOT;
		blocks += seen;
		again += calls_seen(site) > 1 ? seen : 0;
	}
	if (blocks < BLOCKS_MIN)
		return VERDICT_NOT;
	*ret = verdict_together(heap, group->sites, group->count, survey);
	if (ret->level != VERDICT_LIKELY)
		return VERDICT_NOT;
	return again < AGAIN * blocks ? VERDICT_POSSIBLE : VERDICT_LIKELY;
}

/* JavaScript that is compiled anew comes by new stacks: by those of before, what
   belongs to its objects may have been given back. */
static bool was_given_back(const struct heap *heap,
			   const struct caller_group *group)
{
	const struct stacks *stacks = heap_stacks(heap);
	struct calling_code caller;

	if (!slab_owner_is_collected(stacks, heap_namer(heap), group->sites[0]))
		return false;
	for (size_t n = 1; n <= heap_site_count(heap); n++) {
		const struct site *site = heap_site(heap, n);

		if (site->lifetimes.count && caller_of(stacks, site, &caller) &&
		    !memcmp(&caller, &group->caller, sizeof(caller)))
			return true;
	}
	return false;
}

static void raise_to(struct verdict *verdict, const struct site *site,
		     enum verdict_level level, const struct verdict *together)
{
	*verdict = (struct verdict){
		.level = level,
		.reason = VERDICT_TOGETHER,
		.blocks = site->blocks,
		.bytes = site->bytes,
		.leaked_blocks = site->blocks,
		.leaked_bytes = site->bytes,
		.watched = together->watched,
		.together_blocks = together->blocks,
		.together_bytes = together->bytes,
		.trend = together->trend,
		.interval = together->interval,
		.usual_lifetime = verdict->usual_lifetime,
		.oldest = verdict->oldest,
		.reach = verdict->reach,
	};
}

static void raise_group(const struct caller_group *group,
			struct verdicts *verdicts, enum verdict_level level,
			const struct verdict *together)
{
	for (size_t i = 0; i < group->count; i++) {
		const struct site *site = group->sites[i];
		struct verdict *verdict = verdict_at(verdicts, site);

		if (verdict->level < level)
			raise_to(verdict, site, level, together);
	}
}

static void judge_groups(const struct heap *heap, const struct survey *survey,
			 struct verdicts *verdicts)
{
	const struct stacks *stacks = heap_stacks(heap);
	struct caller_group *groups = NULL, *group, *next;
	struct verdict together;
	struct calling_code caller;

	for (size_t n = 1; stacks && n <= heap_site_count(heap); n++) {
		const struct site *site = heap_site(heap, n);

		if (may_be_part(heap, site, verdicts_site(verdicts, site)) &&
		    caller_of(stacks, site, &caller))
			add_to_group(&groups, &caller, site);
	}
	HASH_ITER(hh, groups, group, next) {
		enum verdict_level level =
			level_together(heap, survey, group, &together);

		if (level == VERDICT_LIKELY && was_given_back(heap, group))
			level = VERDICT_POSSIBLE;
		raise_group(group, verdicts, level, &together);
		HASH_DEL(groups, group);
		free(group->sites);
		free(group);
	}
}

/* ---- by family ---- */

/* How much of the family's growth sites have that are called something. */
static double explained(const struct rise_source *sources, size_t count,
			const struct verdicts *verdicts)
{
	double share = 0;

	for (size_t i = 0; i < count; i++)
		if (verdicts_site(verdicts, sources[i].site)->level !=
		    VERDICT_NOT)
			share += sources[i].share;
	return share;
}

static void judge_family(const struct heap *heap, const struct family *family,
			 const struct survey *survey, struct verdicts *verdicts)
{
	uint64_t watched = survey_now(survey) - heap_start(heap);
	struct rise rise = rise_of(heap_total_history(heap, family), watched);
	struct rise_source sources[SOURCES_MAX];
	struct verdict together = { .watched = watched };
	size_t count;

	rise_without_replaced(&rise, heap, family, survey);
	if (!rise.certain)
		return;
	count = rise_sources(heap, family, survey, sources, SOURCES_MAX);
	if (explained(sources, count, verdicts) >= EXPLAINED)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct site *site = sources[i].site;
		struct verdict *verdict;

		if (!site->blocks ||
		    verdicts_site(verdicts, site)->level != VERDICT_NOT)
			continue;
		verdict = verdict_at(verdicts, site);
		raise_to(verdict, site, VERDICT_POSSIBLE, &together);
		verdict->share = sources[i].share;
	}
}

/* What was looked for may have been given back since. */
static void judge_site(const struct heap *heap, const struct site *site,
		       const struct survey *survey, struct verdicts *verdicts)
{
	if (!site->blocks && !heap_site_reach(heap, site))
		return;
	verdicts->list = xgrow(verdicts->list, verdicts->count, &verdicts->room,
			       sizeof(*verdicts->list));
	verdicts->list[verdicts->count++] = verdict_of(heap, site, survey);
	verdicts->places[site->number - 1] = verdicts->count;
}

struct verdicts *verdicts_of(const struct heap *heap,
			     const struct survey *survey)
{
	struct verdicts *verdicts = xcalloc(1, sizeof(*verdicts));

	verdicts->sites = heap_site_count(heap);
	verdicts->places =
		xcalloc(verdicts->sites + 1, sizeof(*verdicts->places));
	for (size_t n = 1; n <= verdicts->sites; n++)
		judge_site(heap, heap_site(heap, n), survey, verdicts);
	judge_groups(heap, survey, verdicts);
	for (size_t i = 0; i < heap_family_count(heap); i++)
		if (heap_family(heap, i)->has_size)
			judge_family(heap, heap_family(heap, i), survey,
				     verdicts);
	return verdicts;
}

void verdicts_free(struct verdicts *verdicts)
{
	if (!verdicts)
		return;
	free(verdicts->list);
	free(verdicts->places);
	free(verdicts);
}
