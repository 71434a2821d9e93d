/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "probe/agent_private.h"

/*
 * Records of a thread are read in the order in which its calls return; where each
 * end is recorded that is the order of time, too. So the list is a few long runs,
 * or many short ones. They are merged: of places in the list, as the records
 * themselves are large.
 */

static bool comes_first(const struct recorded *x, const struct recorded *y)
{
	const struct agent_record *one = &x->record, *two = &y->record;

	if (one->began != two->began)
		return one->began < two->began;
	if (one->ended != two->ended)
		return one->ended > two->ended;
	return x->order < y->order;
}

/* Where the run ends that begins there. */
static size_t end_of_run(struct recorded *const *list, size_t low, size_t count)
{
	size_t i = low + 1;

	while (i < count && !comes_first(list[i], list[i - 1]))
		i++;
	return i < count ? i : count;
}

static void merge_two(struct recorded *const *from, size_t low, size_t middle,
		      size_t high, struct recorded **to)
{
	size_t a = low, b = middle, at = low;

	while (a < middle && b < high)
		to[at++] = comes_first(from[b], from[a]) ? from[b++] :
							   from[a++];
	memcpy(&to[at], &from[a], (middle - a) * sizeof(*to));
	at += middle - a;
	memcpy(&to[at], &from[b], (high - b) * sizeof(*to));
}

/* Each pair of neighbours becomes one. Returns whether there was more than one. */
static bool merge_runs(struct recorded *const *from, struct recorded **to,
		       size_t count)
{
	const size_t first = end_of_run(from, 0, count);
	size_t low = 0, middle = first, high;

	if (first == count)
		return false;
	while (low < count) {
		high = middle < count ? end_of_run(from, middle, count) : count;
		merge_two(from, low, middle, high, to);
		low = high;
		middle = low < count ? end_of_run(from, low, count) : count;
	}
	return true;
}

/* Batches have any size: half as much again, that not each one needs new lists. */
static void make_room(struct recorded_order *order, size_t count)
{
	unsigned i;

	if (count <= order->room)
		return;
	count += count / 2;
	for (i = 0; i < ARRAY_SIZE(order->lists); i++) {
		free(order->lists[i]);
		order->lists[i] = xcalloc(count, sizeof(*order->lists[i]));
	}
	order->room = count;
}

struct recorded **agent_records_order(struct recorded_order *order,
				      struct recorded *list, size_t count,
				      uint64_t until, size_t *count_ret)
{
	struct recorded **from, **to, **swapped;
	size_t i, kept = 0;

	make_room(order, count);
	from = order->lists[0];
	to = order->lists[1];
	for (i = 0; i < count; i++)
		if (list[i].due <= until)
			from[kept++] = &list[i];
	*count_ret = kept;
	while (merge_runs(from, to, kept)) {
		swapped = from;
		from = to;
		to = swapped;
	}
	return from;
}

void agent_records_order_fini(struct recorded_order *order)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(order->lists); i++)
		free(order->lists[i]);
	*order = (struct recorded_order){ { NULL }, 0 };
}
