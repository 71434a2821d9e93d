/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/pages.h"

#include <stdlib.h>

#include "base/xalloc.h"

static void add(struct pages *pages, const struct page_run *run)
{
	struct page_run *last = pages->count ? &pages->runs[pages->count - 1] :
					       NULL;

	if (last && last->end == run->begin && last->huge == run->huge &&
	    last->swapped == run->swapped) {
		last->end = run->end;
		return;
	}
	pages->runs = xgrow(pages->runs, pages->count, &pages->room,
			    sizeof(*pages->runs));
	pages->runs[pages->count++] = *run;
}

static void add_mapping(struct pages *pages, struct pagemap *map,
			const struct mapping *mapping)
{
	struct page_run run = { .end = mapping->start };

	for (;;) {
		if (pagemap_next_kept(map, run.end, mapping->end, &run)) {
			pages->unknown = true;
			return;
		}
		if (run.begin >= run.end)
			return;
		add(pages, &run);
	}
}

/* A file that is only read has pages, too. */
static bool may_have_pages(const struct mapping *mapping)
{
	return (mapping->readable || mapping->writable) &&
	       mapping->kind != MAPPING_KERNEL;
}

int pages_read(const struct mappings *mappings, struct pages *ret)
{
	struct pagemap map;
	int err = pagemap_open(&map, mappings->pid);

	*ret = (struct pages){ .count = 0 };
	if (err)
		return err;
	ret->huge_known = map.scans;
	for (size_t i = 0; i < mappings->count; i++)
		if (may_have_pages(&mappings->list[i]))
			add_mapping(ret, &map, &mappings->list[i]);
	pagemap_close(&map);
	return 0;
}

void pages_fini(struct pages *pages)
{
	free(pages->runs);
	*pages = (struct pages){ .count = 0 };
}

/* The first run that ends behind an address. */
static size_t first_behind(const struct pages *pages, taddr_t address)
{
	size_t low = 0, high = pages->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (pages->runs[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

struct page_sums pages_count(const struct pages *pages, taddr_t start,
			     taddr_t end)
{
	struct page_sums sums = { 0 };

	if (end < start)
		end = UINT64_MAX;
	for (size_t i = first_behind(pages, start);
	     i < pages->count && pages->runs[i].begin < end; i++) {
		const struct page_run *run = &pages->runs[i];
		const taddr_t begin = run->begin > start ? run->begin : start;
		const uint64_t bytes =
			(run->end < end ? run->end : end) - begin;

		sums.resident += run->swapped ? 0 : bytes;
		sums.swapped += run->swapped ? bytes : 0;
		sums.huge += run->huge && !run->swapped ? bytes : 0;
	}
	return sums;
}
