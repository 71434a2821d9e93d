/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/turnover.h"

#include <math.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "heap/private.h"

#define FEW        4   /* fewer say nothing */
#define GOES_ON    4   /* they go on: the last one in this part of the time */
#define NOISE      1.5 /* of counts that are equal but for chance, in roots */
#define NEARLY     0.1 /* … and besides */
#define NEARLY_ALL 0.8
#define DEPTH      64
#define PAIRS_MAX  (1u << 20)

/* A site that keeps, and a place that gives back as many old ones. */
struct turnover_pair {
	size_t site, release; /* indexes of the lists below */
	size_t common;        /* outer frames */
	double difference;    /* of the numbers */
};

struct matching {
	const struct heap *heap;
	const struct site **sites;
	size_t site_count;
	struct old_release *releases;
	size_t release_count;
	bool *site_done, *release_done;
	struct turnover_pair *pairs;
	size_t pair_count, pair_room;
	uint64_t *ret;
};

static bool is_store(const struct site *site, const struct family *family)
{
	return site->function->family == family && site->blocks >= FEW;
}

static void find_sites(struct matching *m, const struct family *family)
{
	size_t count = heap_site_count(m->heap);

	m->sites = xcalloc(count + 1, sizeof(*m->sites));
	for (size_t n = 1; n <= count; n++) {
		const struct site *site = heap_site(m->heap, n);

		if (is_store(site, family))
			m->sites[m->site_count++] = site;
	}
	m->site_done = xcalloc(m->site_count + 1, sizeof(bool));
}

/* Those that have ceased were of what was short-lived. */
static void find_releases(struct matching *m, const struct family *family,
			  uint64_t now)
{
	uint64_t watched = now - heap_start(m->heap);
	size_t kept = 0;

	m->releases = old_releases_of(&m->heap->old_releases, family,
				      &m->release_count);
	for (size_t i = 0; i < m->release_count; i++) {
		const struct old_release release = m->releases[i];

		if (release.count >= FEW &&
		    now - release.last_time < watched / GOES_ON)
			m->releases[kept++] = release;
	}
	m->release_count = kept;
	m->release_done = xcalloc(kept + 1, sizeof(bool));
}

/* Frames from the outermost on that two stacks have in common. */
static size_t common_frames(const struct stacks *stacks, stack_id a, stack_id b)
{
	struct frame x[DEPTH], y[DEPTH];
	size_t n = stacks_frames(stacks, a, x, DEPTH);
	size_t m = stacks_frames(stacks, b, y, DEPTH), common = 0;

	while (common < n && common < m &&
	       x[n - 1 - common].code == y[m - 1 - common].code &&
	       x[n - 1 - common].address == y[m - 1 - common].address)
		common++;
	return common;
}

static bool are_equal(double a, double b)
{
	return fabs(a - b) <= NOISE * sqrt(a + b) + NEARLY * a;
}

static void add_pair(struct matching *m, size_t site, size_t release)
{
	const struct stacks *stacks = m->heap->options.stacks;
	double blocks = m->sites[site]->blocks;
	double count = m->releases[release].count;

	if (!are_equal(blocks, count) || m->pair_count == PAIRS_MAX)
		return;
	m->pairs = xgrow(m->pairs, m->pair_count, &m->pair_room,
			 sizeof(*m->pairs));
	m->pairs[m->pair_count++] = (struct turnover_pair){
		.site = site,
		.release = release,
		.common = stacks ? common_frames(stacks, m->sites[site]->stack,
						 m->releases[release].stack) :
				   0,
		.difference = fabs(blocks - count) / blocks,
	};
}

static int by_likeness(const void *a, const void *b)
{
	const struct turnover_pair *x = a, *y = b;

	if (x->common != y->common)
		return x->common < y->common ? 1 : -1;
	return (x->difference > y->difference) -
	       (x->difference < y->difference);
}

static void match_pairs(struct matching *m)
{
	for (size_t s = 0; s < m->site_count; s++)
		for (size_t r = 0; r < m->release_count; r++)
			add_pair(m, s, r);
	if (m->pair_count)
		qsort(m->pairs, m->pair_count, sizeof(*m->pairs), by_likeness);
	for (size_t i = 0; i < m->pair_count; i++) {
		const struct turnover_pair *pair = &m->pairs[i];

		if (m->site_done[pair->site] || m->release_done[pair->release])
			continue;
		m->site_done[pair->site] = true;
		m->release_done[pair->release] = true;
		m->ret[m->sites[pair->site]->number - 1] =
			m->releases[pair->release].count;
	}
}

/* What is left over on both sides may be equal in all: one place gives back
   what several sites have acquired. */
static void match_rest(struct matching *m)
{
	double held = 0, given_back = 0;

	for (size_t s = 0; s < m->site_count; s++)
		held += m->site_done[s] ? 0 : m->sites[s]->blocks;
	for (size_t r = 0; r < m->release_count; r++)
		given_back += m->release_done[r] ? 0 : m->releases[r].count;
	if (given_back < NEARLY_ALL * held)
		return;
	for (size_t s = 0; s < m->site_count; s++)
		if (!m->site_done[s])
			m->ret[m->sites[s]->number - 1] = m->sites[s]->blocks;
}

static void match_family(const struct heap *heap, const struct family *family,
			 uint64_t now, uint64_t *ret)
{
	struct matching m = { .heap = heap, .ret = ret };

	find_sites(&m, family);
	find_releases(&m, family, now);
	if (m.release_count && m.site_count) {
		match_pairs(&m);
		match_rest(&m);
	}
	free(m.sites);
	free(m.site_done);
	free(m.releases);
	free(m.release_done);
	free(m.pairs);
}

void turnover_match(const struct heap *heap, uint64_t now, uint64_t *ret)
{
	for (size_t i = 0; i < heap_family_count(heap); i++)
		match_family(heap, heap_family(heap, i), now, ret);
}
