/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "probe/agent_private.h"

/*
 * Each ring has a list, which holds a few hundred calls of one thread in the order
 * of time. What is told next is the earliest of all lists; a list that is through
 * gets more. So nothing is moved from where it was read to, and it is told before
 * it has left the processor's caches.
 */

static bool is_through(const struct watched_list *list)
{
	return list->next == list->count;
}

static uint64_t next_time(const struct watched_list *list)
{
	return list->calls[list->next].time;
}

static void forget_told(struct watched_list *list)
{
	if (!list->next)
		return;
	memmove(list->calls, list->calls + list->next,
		(list->count - list->next) * sizeof(*list->calls));
	list->count -= list->next;
	list->next = 0;
}

static void read_on(struct watched_list *list, agent_list_reader *read,
		    bool all)
{
	forget_told(list);
	read(list, all);
}

static void add_list(struct agent_engine *engine, struct watched_list *list)
{
	engine->lists = xgrow(engine->lists, engine->list_count,
			      &engine->list_room, sizeof(*engine->lists));
	engine->lists[engine->list_count++] = list;
}

static void begin_space(struct agent_engine *engine, struct agent_space *space,
			agent_list_reader *read)
{
	const bool is_there = agent_reading_begin(space, &space->reading);
	unsigned block;

	if (is_there) {
		shared_find_sole(&space->agent.shared, engine->reading,
				 space->may_lag);
		shared_begin_reading(&space->agent.shared);
	}
	for (block = 1; block < SHARED_BLOCKS; block++) {
		struct watched_list *list = &space->lists[block];

		list->space = space;
		list->block = block;
		list->more = false;
		if (is_there && block < space->agent.shared.blocks)
			read_on(list, read, false);
		if (!is_through(list) || list->more)
			add_list(engine, list);
	}
}

void agent_lists_begin(struct agent_engine *engine, agent_list_reader *read)
{
	struct agent_space *space;

	engine->list_count = 0;
	engine->reading = clock_now();
	for (space = engine->spaces; space; space = space->next)
		begin_space(engine, space, read);
}

struct watched_list *agent_lists_earliest(const struct agent_engine *engine,
					  agent_list_reader *read,
					  uint64_t *limit_ret)
{
	struct watched_list *first = NULL;
	uint64_t limit = UINT64_MAX;
	size_t i;

	for (i = 0; i < engine->list_count; i++) {
		struct watched_list *list = engine->lists[i];

		while (is_through(list) && list->more)
			read_on(list, read, false);
		if (is_through(list))
			continue;
		if (first && next_time(list) >= next_time(first)) {
			if (next_time(list) < limit)
				limit = next_time(list);
			continue;
		}
		if (first)
			limit = next_time(first);
		first = list;
	}
	*limit_ret = limit;
	return first;
}

uint64_t agent_lists_last(const struct agent_engine *engine,
			  agent_list_reader *read, struct agent_all_of them,
			  uint64_t until)
{
	uint64_t last = until;
	size_t i, k;

	for (i = 0; (them.tid || them.point) && i < engine->list_count; i++) {
		struct watched_list *list = engine->lists[i];

		if (list->more)
			read_on(list, read, true);
		for (k = list->count; k-- > list->next;)
			if (list->calls[k].time <= last)
				break;
			else if (agent_is_of(them, list->calls[k].tid,
					     list->calls[k].point))
				last = list->calls[k].time;
	}
	return last;
}

void agent_lists_trim(struct agent_engine *engine, uint64_t now)
{
	struct agent_space *space;
	unsigned block;

	for (space = engine->spaces; space; space = space->next)
		for (block = 1; block < SHARED_BLOCKS; block++)
			if (space->lists[block].calls)
				agent_watch_trim(&space->lists[block], now);
}

void agent_lists_free(struct agent_space *space)
{
	unsigned block;

	for (block = 0; block < SHARED_BLOCKS; block++) {
		free(space->lists[block].calls);
		free(space->lists[block].spare);
	}
}
