/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "growth/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "growth/private.h"
#include "sysdeps/linux/procfs.h"

/* Skip periodic snapshots if the last one took longer. */
#define QUICK (NS_PER_SECOND / 500)

/* Files beyond this many are told as one. */
#define NAMES_MAX 256

static const char others[] = "(others)";

/* Of the kernel itself: VIRT is without it. */
static bool is_kernels(const struct procfs_mapping *mapping)
{
	return !strcmp(mapping->path, "[vsyscall]");
}

void growth_view_fini(struct growth_view *view)
{
	for (size_t i = 0; i < view->count; i++)
		free(view->unseen[i].name);
	free(view->unseen);
	*view = (struct growth_view){ 0 };
}

/* ---- the beginning ---- */

static void learn(struct growth *growth, FILE *maps, uint64_t *virtual_ret,
		  taddr_t *heap_end_ret)
{
	struct procfs_mapping mapping;

	while (procfs_maps_next(maps, &mapping)) {
		if (is_kernels(&mapping))
			continue;
		growth_add_before(growth, mapping.start, mapping.end);
		*virtual_ret += mapping.end - mapping.start;
		if (!strcmp(mapping.path, "[heap]"))
			*heap_end_ret = mapping.end;
	}
}

void growth_begin(struct growth *growth, pid_t pid, const struct vitals *vitals,
		  uint64_t now)
{
	struct growth_view *view = &growth->first;
	taddr_t start = 0, heap_end = 0;
	FILE *maps = procfs_maps_open(pid);

	growth_drain(growth);
	(void)growth_look_at_pages(growth, pid, false);
	if (!maps)
		return;
	learn(growth, maps, &view->virtual_bytes, &heap_end);
	fclose(maps);
	if (!procfs_start_of_heap(pid, &start) && !heap_end)
		return;
	growth_set_break(growth, start, heap_end ? heap_end : start);
	view->time = now;
	view->vitals = *vitals;
}

/* ---- later ---- */

static struct growth_unseen *unseen_named(struct growth_view *view,
					  const char *name)
{
	for (size_t i = 0; i < view->count; i++)
		if (!strcmp(view->unseen[i].name, name))
			return &view->unseen[i];
	if (view->count >= NAMES_MAX && strcmp(name, others) != 0)
		return unseen_named(view, others);
	view->unseen = xgrow(view->unseen, view->count, &view->room,
			     sizeof(*view->unseen));
	view->unseen[view->count] = (struct growth_unseen){ xstrdup(name), 0 };
	return &view->unseen[view->count++];
}

/* Bytes of [begin, end) that are known; both rows are sorted. */
static uint64_t known_in(const struct ranges *memory, size_t *at, taddr_t begin,
			 taddr_t end)
{
	const struct range_list *live = &memory->live;
	uint64_t bytes = 0;

	while (*at < live->count && live->items[*at].end <= begin)
		++*at;
	for (size_t i = *at; i < live->count && live->items[i].begin < end;
	     i++) {
		const struct range *range = &live->items[i];

		bytes += (range->end < end ? range->end : end) -
			 (range->begin > begin ? range->begin : begin);
	}
	return bytes;
}

static uint64_t known_bytes(const struct ranges *memory)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < memory->live.count; i++)
		bytes +=
			memory->live.items[i].end - memory->live.items[i].begin;
	return bytes;
}

static int by_bytes(const void *a, const void *b)
{
	const struct growth_unseen *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void compare(const struct growth *growth, FILE *maps,
		    struct growth_view *view)
{
	struct procfs_mapping mapping;
	uint64_t known = 0;
	size_t at = 0;

	while (procfs_maps_next(maps, &mapping)) {
		const uint64_t size = mapping.end - mapping.start;
		uint64_t of_it;

		if (is_kernels(&mapping))
			continue;
		of_it = known_in(&growth->memory, &at, mapping.start,
				 mapping.end);
		view->virtual_bytes += size;
		known += of_it;
		if (of_it < size)
			unseen_named(view, mapping.path)->bytes += size - of_it;
	}
	view->vanished = known_bytes(&growth->memory) - known;
	if (view->count)
		qsort(view->unseen, view->count, sizeof(*view->unseen),
		      by_bytes);
}

void growth_look(struct growth *growth, pid_t pid, const struct vitals *vitals,
		 uint64_t now, bool now_and_then)
{
	struct growth_view view = { .time = now, .vitals = *vitals };
	uint64_t begun = clock_now();
	FILE *maps;

	growth_drain(growth);
	if (!growth_look_at_pages(growth, pid, now_and_then) ||
	    (now_and_then && growth->look_ns > QUICK))
		return;
	maps = procfs_maps_open(pid);
	if (!maps)
		return;
	memcpy(view.totals, growth->totals, sizeof(view.totals));
	compare(growth, maps, &view);
	fclose(maps);
	growth->look_ns = clock_now() - begun;
	if (!view.virtual_bytes) {
		growth_view_fini(&view);
		return;
	}
	growth_view_fini(&growth->last);
	growth->last = view;
}

const struct growth_view *growth_first_view(const struct growth *growth)
{
	return growth->first.time ? &growth->first : NULL;
}

const struct growth_view *growth_last_view(const struct growth *growth)
{
	return growth->last.time ? &growth->last : NULL;
}
