/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "probe/agent_private.h"

/*
 * What a ring holds is in order, but for what handlers of signals have done in
 * between; and so is what was left from the last time: a few runs, which are
 * merged. Of what has the same time, what was read first stays first.
 */

struct runs {
	size_t *ends;
	size_t count, room;
};

static void add_run(struct runs *runs, size_t end)
{
	runs->ends = xgrow(runs->ends, runs->count, &runs->room,
			   sizeof(*runs->ends));
	runs->ends[runs->count++] = end;
}

static void find_runs(const struct watched_list *list, struct runs *ret)
{
	size_t i;

	for (i = 1; i < list->count; i++)
		if (list->calls[i].time < list->calls[i - 1].time)
			add_run(ret, i);
	add_run(ret, list->count);
}

static void merge_two(const struct watched_call *from, size_t low,
		      size_t middle, size_t high, struct watched_call *to)
{
	size_t a = low, b = middle, at = low;

	while (a < middle && b < high)
		to[at++] = from[b].time < from[a].time ? from[b++] : from[a++];
	memcpy(&to[at], &from[a], (middle - a) * sizeof(*to));
	at += middle - a;
	memcpy(&to[at], &from[b], (high - b) * sizeof(*to));
}

/* Each pair of neighbours becomes one; an odd one stays. */
static void merge_pairs(struct runs *runs, const struct watched_call *from,
			struct watched_call *to)
{
	size_t i, kept = 0, low = 0;

	for (i = 0; i < runs->count; i += 2) {
		const bool is_pair = i + 1 < runs->count;
		const size_t middle = runs->ends[i];
		const size_t high = is_pair ? runs->ends[i + 1] : middle;

		merge_two(from, low, middle, high, to);
		runs->ends[kept++] = low = high;
	}
	runs->count = kept;
}

/* The other memory, large enough for all of the list. */
static struct watched_call *make_spare(struct watched_list *list)
{
	if (list->spare_room >= list->count)
		return list->spare;
	free(list->spare);
	list->spare = xcalloc(list->room, sizeof(*list->spare));
	list->spare_room = list->room;
	return list->spare;
}

static void take_spare(struct watched_list *list)
{
	struct watched_call *calls = list->calls;
	const size_t room = list->room;

	list->calls = list->spare;
	list->room = list->spare_room;
	list->spare = calls;
	list->spare_room = room;
}

void agent_watch_order(struct watched_list *list)
{
	struct runs runs = { 0 };

	if (list->count > list->most)
		list->most = list->count;
	if (!list->count)
		return;
	find_runs(list, &runs);
	while (runs.count > 1) {
		merge_pairs(&runs, list->calls, make_spare(list));
		take_spare(list);
	}
	free(runs.ends);
}

/* The whole pages behind so many calls; they are zeros from then on. */
static void forget_pages(struct watched_call *calls, size_t from, size_t room)
{
	const uintptr_t page = PAGE_SIZE, start = (uintptr_t)calls;
	const uintptr_t low = (start + from * sizeof(*calls) + page - 1) &
			      -page;
	const uintptr_t high = (start + room * sizeof(*calls)) & -page;

	if (calls && low < high)
		(void)madvise((void *)low, high - low, MADV_DONTNEED);
}

/* After a while without a processor there was more than ever. */
void agent_watch_trim(struct watched_list *list, uint64_t now)
{
	if (now - list->trimmed < NS_PER_SECOND)
		return;
	forget_pages(list->calls, list->most, list->room);
	forget_pages(list->spare, list->most, list->spare_room);
	list->most = list->count;
	list->trimmed = now;
}
