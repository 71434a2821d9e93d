/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/survey.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "heap/turnover.h"

struct survey {
	uint64_t now;
	uint64_t *busy_until; /* by family */
	/* Most of very many sites hold nothing: only of the others there is
	   something to keep. */
	struct survey_site *found;
	size_t count, room;
	uint32_t *places; /* of a site, by number - 1: in .found, from 1 on */
};

static const struct survey_site nothing_found;

uint64_t site_usual_lifetime(const struct site *site)
{
	uint64_t usual = log_histogram_quantile(&site->lifetimes, 990);

	return usual || !site->lifetimes.count ? usual : 1;
}

/* Of many, the one that lived longest says more than the 99th percentile. */
#define LIVES_MANY 30

uint64_t site_old_age(const struct site *site)
{
	uint64_t age = 3 * site_usual_lifetime(site);
	uint64_t longest = site->lifetimes.max + site->lifetimes.max / 2;

	return site->lifetimes.count >= LIVES_MANY && longest < age ? longest :
								      age;
}

static struct survey_site *found_at(struct survey *survey,
				    const struct site *site)
{
	uint32_t *place = &survey->places[site->number - 1];

	if (!*place) {
		survey->found = xgrow(survey->found, survey->count,
				      &survey->room, sizeof(*survey->found));
		survey->found[survey->count++] = nothing_found;
		*place = survey->count;
	}
	return &survey->found[*place - 1];
}

static void count_old(struct survey_site *ret, const struct heap_block *block,
		      uint64_t birth, uint64_t now)
{
	const struct site *site = block->site;
	const uint64_t blocks = block->weight.count;
	uint64_t limit = site_old_age(site);
	uint64_t age = now > birth ? now - birth : 0, ended;

	if (!limit || age <= limit)
		return;
	ret->seen_old++;
	ret->old += blocks;
	ret->old_bytes += blocks * block->size;
	if (age / 10 > site_usual_lifetime(site))
		ret->seen_very_old++;
	if (birth > ret->last_old_birth)
		ret->last_old_birth = birth;
	ended = now - limit;
	if (birth >= site->first_time + (ended - site->first_time) / 2)
		ret->seen_old_in_last_half++;
}

static void count_held(struct survey_site *ret, const struct heap_block *block)
{
	ret->blocks += block->weight.count;
	ret->bytes += block->weight.count * block->size;
	sample_spread_add(&ret->byte_spread, &block->weight, block->size);
}

static void count(struct survey *survey, const struct heap_block *block,
		  uint64_t now, uint64_t min_age)
{
	struct survey_site *ret = found_at(survey, block->site);
	uint64_t birth = block->birth < now ? block->birth : now;
	uint64_t age = now - birth;

	ret->seen++;
	if (age >= min_age) {
		count_held(ret, block);
		log_histogram_add_many(&ret->ages, age, block->weight.count);
	}
	if (age > ret->oldest)
		ret->oldest = age;
	count_old(ret, block, birth,
		  survey_busy_until(survey, block->site->function->family));
}

static uint64_t *busy_times(const struct heap *heap, uint64_t now)
{
	size_t families = heap_family_count(heap);
	uint64_t *times = xcalloc(families, sizeof(*times));

	for (size_t i = 0; i < families; i++)
		times[i] = heap_busy_until(heap, heap_family(heap, i), now);
	return times;
}

uint64_t survey_now(const struct survey *survey)
{
	return survey->now;
}

uint64_t survey_busy_until(const struct survey *survey,
			   const struct family *family)
{
	return survey->busy_until[family->index];
}

/* Ranges are cut up and joined: where all is kept, the site knows. */
uint64_t survey_seen(const struct survey *survey, const struct site *site)
{
	return site->samples ? survey_site(survey, site)->seen : site->blocks;
}

#define REPLACED 0.6

bool survey_replaces(const struct survey_site *found, uint64_t blocks)
{
	return blocks && found->replaced >= REPLACED * blocks;
}

bool survey_is_replaced(const struct survey *survey, const struct site *site)
{
	return survey_replaces(survey_site(survey, site), site->blocks);
}

static void count_replaced(struct survey *survey, const struct heap *heap,
			   uint64_t now)
{
	size_t sites = heap_site_count(heap);
	uint64_t *replaced CLEANUP(xfree_cleanup) =
		xcalloc(sites + 1, sizeof(*replaced));

	turnover_match(heap, now, replaced);
	for (size_t i = 0; i < sites; i++) {
		const struct site *site = heap_site(heap, i + 1);
		uint64_t most = replaced[i] > site->adopted ? replaced[i] :
							      site->adopted;

		if (most)
			found_at(survey, site)->replaced = most;
	}
}

struct survey *survey_new(const struct heap *heap, uint64_t now,
			  uint64_t min_age)
{
	struct survey *survey = xcalloc(1, sizeof(*survey));
	struct heap_walk walk = { 0 };
	struct heap_block block;

	survey->now = now;
	survey->places =
		xcalloc(heap_site_count(heap) + 1, sizeof(*survey->places));
	survey->busy_until = busy_times(heap, now);
	while (heap_next_block(heap, &walk, &block))
		count(survey, &block, now, min_age);
	count_replaced(survey, heap, now);
	return survey;
}

void survey_free(struct survey *survey)
{
	if (!survey)
		return;
	for (size_t i = 0; i < survey->count; i++)
		log_histogram_fini(&survey->found[i].ages);
	free(survey->found);
	free(survey->places);
	free(survey->busy_until);
	free(survey);
}

const struct survey_site *survey_site(const struct survey *survey,
				      const struct site *site)
{
	uint32_t place = survey->places[site->number - 1];

	return place ? &survey->found[place - 1] : &nothing_found;
}
