/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "growth/private.h"
#include "sysdeps/linux/pagemap.h"
#include "sysdeps/linux/procfs.h"

/*
 * Where the kernel tells nobody of page faults: which pages are there is looked
 * at now and then. What has come in between is booked to the stack that has
 * mapped the memory, or else to the name that it has.
 */

/* Of all time, so much may be spent with looking. */
#define SHARE 20

#define NAMES_MAX 1024

/* Those that are there, sorted; the next one of a row may touch it. */
struct page_runs {
	struct page_run *runs;
	size_t count, room;
};

struct name {
	UT_hash_handle hh;
	char text[];
};

struct residency {
	pid_t pid;
	struct page_runs pages;
	struct name *names;
	uint64_t next; /* not before, unless there is a reason */
};

void growth_residency_fini(struct growth *growth)
{
	struct residency *own = growth->residency;
	struct name *name, *next;

	if (!own)
		return;
	HASH_ITER(hh, own->names, name, next) {
		HASH_DEL(own->names, name);
		free(name);
	}
	free(own->pages.runs);
	free(own);
	growth->residency = NULL;
}

/* A copy that lasts, one for each text. */
static const char *name_of(struct residency *own, const char *text)
{
	const char *shown = *text ? text : "memory of no file";
	const size_t size = strlen(shown) + 1;
	struct name *name;

	HASH_FIND(hh, own->names, shown, size - 1, name);
	if (name)
		return name->text;
	if (HASH_COUNT(own->names) >= NAMES_MAX)
		return "(others)";
	name = xcalloc(1, sizeof(*name) + size);
	memcpy(name->text, shown, size);
	HASH_ADD_KEYPTR(hh, own->names, name->text, size - 1, name);
	return name->text;
}

/* ---- looking ---- */

static void add_run(struct page_runs *pages, const struct page_run *run)
{
	const size_t count = pages->count;

	if (count && pages->runs[count - 1].end == run->begin) {
		pages->runs[count - 1].end = run->end;
		return;
	}
	pages->runs = xgrow(pages->runs, pages->count, &pages->room,
			    sizeof(*pages->runs));
	pages->runs[pages->count++] = *run;
}

/* Returns false when there is more of it than can be looked at. */
static bool look_at(struct pagemap *map, taddr_t begin, taddr_t end,
		    struct page_runs *pages)
{
	struct page_run run = { .begin = begin, .end = begin };
	int err;

	while (run.end < end) {
		err = pagemap_next(map, run.end, end, &run);
		if (err || run.begin >= run.end || run.begin < begin)
			return err != -EFBIG;
		begin = run.end;
		add_run(pages, &run);
	}
	return true;
}

static bool is_counted(const struct procfs_mapping *mapping)
{
	return strcmp(mapping->path, "[vsyscall]") != 0 &&
	       strcmp(mapping->path, "[vvar]") != 0 &&
	       strcmp(mapping->path, "[vdso]") != 0;
}

/* ---- booking ---- */

struct booking {
	struct growth *growth;
	uint64_t now;
	const char *name; /* of the mapping */
	size_t known;     /* index into the growth's memory */
};

static void book(const struct booking *b, taddr_t begin, taddr_t end,
		 uint32_t number)
{
	const struct growth_site *site = growth_site(b->growth, number);

	growth_fault(b->growth,
		     &(struct growth_fault){
			     .stack = site ? site->stack : STACK_NONE,
			     .time = b->now,
			     .address = begin,
			     .size = end - begin,
			     .faults = (end - begin) / GROWTH_PAGE,
			     .function = site ? site->function : b->name,
		     });
}

/* Parts that were seen to be mapped go to who has done that. */
static void book_run(struct booking *b, taddr_t begin, taddr_t end)
{
	const struct range_list *live = &b->growth->memory.live;

	while (b->known < live->count && live->items[b->known].end <= begin)
		b->known++;
	for (size_t i = b->known; begin < end; i++) {
		const struct range *range;

		if (i >= live->count || live->items[i].begin >= end) {
			book(b, begin, end, 0);
			return;
		}
		range = &live->items[i];
		if (range->begin > begin) {
			book(b, begin, range->begin, 0);
			begin = range->begin;
		}
		if (range->end < end) {
			book(b, begin, range->end, range->block->site);
			begin = range->end;
		} else {
			book(b, begin, end, range->block->site);
			return;
		}
	}
}

/* What of a run is not in the other ones: at is where it may begin in them. */
static bool next_difference(const struct page_runs *others, size_t *at,
			    struct page_run *run, struct page_run *ret)
{
	while (run->begin < run->end) {
		const struct page_run *other;

		if (*at >= others->count ||
		    others->runs[*at].begin >= run->end) {
			*ret = *run;
			run->begin = run->end;
			return true;
		}
		other = &others->runs[*at];
		if (other->end <= run->begin) {
			++*at;
			continue;
		}
		*ret = (struct page_run){ .begin = run->begin,
					  .end = other->begin };
		run->begin = other->end;
		if (ret->begin < ret->end)
			return true;
	}
	return false;
}

static void book_new(struct booking *b, const struct page_runs *pages,
		     const struct page_runs *before, size_t *at)
{
	for (size_t i = 0; i < pages->count; i++) {
		struct page_run run = pages->runs[i], new;

		while (next_difference(before, at, &run, &new))
			book_run(b, new.begin, new.end);
	}
}

/* By whomever: reclaim, or a call that isn't seen. */
static void forget_gone(struct growth *growth, const struct page_runs *before,
			const struct page_runs *pages, uint64_t now)
{
	const struct growth_actor nobody = { "unseen", STACK_NONE, now };
	size_t at = 0;

	for (size_t i = 0; i < before->count; i++) {
		struct page_run run = before->runs[i], gone;

		while (next_difference(pages, &at, &run, &gone))
			growth_forget_pages(growth,
					    (struct extent){ gone.begin,
							     gone.end },
					    &nobody);
	}
}

static void look_at_all(struct growth *growth, struct pagemap *map, FILE *maps,
			uint64_t now, struct page_runs *ret)
{
	struct growth_fault_source *source = &growth->fault_source;
	struct residency *own = growth->residency;
	struct booking b = { .growth = growth, .now = now };
	struct procfs_mapping mapping;
	size_t at = 0;

	source->unlooked = 0;
	while (procfs_maps_next(maps, &mapping)) {
		/* A run may go on from the mapping before. */
		struct page_runs pages = { 0 };

		if (!is_counted(&mapping))
			continue;
		if (!look_at(map, mapping.start, mapping.end, &pages))
			source->unlooked += mapping.end - mapping.start;
		b.name = name_of(own, mapping.path);
		if (source->looks)
			book_new(&b, &pages, &own->pages, &at);
		for (size_t i = 0; i < pages.count; i++)
			add_run(ret, &pages.runs[i]);
		free(pages.runs);
	}
}

static void look(struct growth *growth, struct pagemap *map, FILE *maps)
{
	struct growth_fault_source *source = &growth->fault_source;
	struct residency *own = growth->residency;
	struct page_runs pages = { 0 };
	uint64_t begun = clock_now();

	look_at_all(growth, map, maps, begun, &pages);
	if (source->looks++)
		forget_gone(growth, &own->pages, &pages, begun);
	source->method = FAULTS_BY_LOOKING;
	free(own->pages.runs);
	own->pages = pages;
	own->next = clock_now() + (clock_now() - begun) * SHARE;
}

static bool is_to_be_looked_at(const struct growth *growth)
{
	return growth_has(growth, GROWTH_FAULTS) &&
	       growth->fault_source.method != FAULTS_BY_EVENTS;
}

static bool is_too_soon(const struct growth *growth)
{
	return growth->residency && clock_now() < growth->residency->next;
}

bool growth_look_at_pages(struct growth *growth, pid_t pid, bool now_and_then)
{
	struct pagemap map;
	FILE *maps;

	if (!is_to_be_looked_at(growth))
		return true;
	if ((now_and_then && is_too_soon(growth)) || pagemap_open(&map, pid))
		return false;
	maps = procfs_maps_open(pid);
	if (maps) {
		if (!growth->residency)
			growth->residency =
				xcalloc(1, sizeof(struct residency));
		growth->residency->pid = pid;
		look(growth, &map, maps);
		fclose(maps);
	}
	pagemap_close(&map);
	return maps;
}

void growth_look_again(struct growth *growth)
{
	if (growth->residency)
		(void)growth_look_at_pages(growth, growth->residency->pid,
					   true);
}
