/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_MARKS_H
#define CALLTRAP_AGENT_MARKS_H

#include <stdbool.h>

#include "sysdeps/x86_64/agent/layout.h"

/*
 * The table of agent_shared.marks, which calltrap and the threads of the process
 * change at the same time. No address is 0.
 */

static inline struct agent_mark_line *
agent_mark_line_at(struct agent_mark_line *lines, unsigned at)
{
	return &lines[at % AGENT_MARK_LINES];
}

/* The place where a line has the address. */
static inline uint64_t *agent_find_mark(struct agent_mark_line *line,
					uint64_t address)
{
	unsigned i;

	for (i = 0; i < AGENT_MARKS; i++)
		if (__atomic_load_n(&line->marks[i], __ATOMIC_ACQUIRE) ==
		    address)
			return &line->marks[i];
	return NULL;
}

/* Once around, whatever others do to it. */
static inline bool agent_add_to_line(struct agent_mark_line *line,
				     uint64_t address)
{
	unsigned i;

	for (i = 0; i < AGENT_MARKS; i++) {
		uint64_t empty = 0;

		if (__atomic_compare_exchange_n(&line->marks[i], &empty,
						address, false,
						__ATOMIC_RELEASE,
						__ATOMIC_RELAXED))
			return true;
	}
	return false;
}

/* First: who looks for the mark sees that there may be some. */
static inline void agent_count_mark(uint8_t *marked)
{
	uint8_t count = __atomic_load_n(marked, __ATOMIC_RELAXED);

	while (count != AGENT_MARKED_MOST &&
	       !__atomic_compare_exchange_n(marked, &count, count + 1, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
}

static inline void agent_uncount_mark(uint8_t *marked)
{
	uint8_t count = __atomic_load_n(marked, __ATOMIC_RELAXED);

	while (count && count != AGENT_MARKED_MOST &&
	       !__atomic_compare_exchange_n(marked, &count, count - 1, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
}

static inline bool agent_is_marked(struct agent_marks *marks, uint64_t address)
{
	const unsigned home = agent_mark_home(address);
	struct agent_mark_line *own = &marks->lines[home];
	unsigned i;

	if (!address ||
	    !__atomic_load_n(&marks->marked[home], __ATOMIC_ACQUIRE))
		return false;
	if (agent_find_mark(own, address))
		return true;
	for (i = 1; own->elsewhere && i < AGENT_MARK_PROBING; i++)
		if (agent_find_mark(agent_mark_line_at(marks->lines, home + i),
				    address))
			return true;
	return false;
}

static inline bool agent_place_mark(struct agent_mark_line *lines,
				    unsigned home, uint64_t address)
{
	struct agent_mark_line *own = agent_mark_line_at(lines, home);
	unsigned i;

	if (agent_add_to_line(own, address))
		return true;
	__atomic_fetch_add(&own->elsewhere, 1, __ATOMIC_RELAXED);
	for (i = 1; i < AGENT_MARK_PROBING; i++)
		if (agent_add_to_line(agent_mark_line_at(lines, home + i),
				      address))
			return true;
	__atomic_fetch_sub(&own->elsewhere, 1, __ATOMIC_RELAXED);
	return false;
}

/* Returns false when there is no place. Nobody else adds the same. */
static inline bool agent_add_mark(struct agent_marks *marks, uint64_t address)
{
	const unsigned home = agent_mark_home(address);

	if (agent_is_marked(marks, address))
		return true;
	agent_count_mark(&marks->marked[home]);
	if (agent_place_mark(marks->lines, home, address))
		return true;
	agent_uncount_mark(&marks->marked[home]);
	return false;
}

static inline bool agent_take_from_line(struct agent_mark_line *line,
					uint64_t address)
{
	uint64_t *place = agent_find_mark(line, address);

	return place &&
	       __atomic_compare_exchange_n(place, &address, 0, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Returns whether it was there. */
static inline bool agent_take_mark(struct agent_mark_line *lines, unsigned home,
				   uint64_t address)
{
	struct agent_mark_line *own = agent_mark_line_at(lines, home);
	unsigned i;

	if (agent_take_from_line(own, address))
		return true;
	for (i = 1; i < AGENT_MARK_PROBING; i++) {
		if (!agent_take_from_line(agent_mark_line_at(lines, home + i),
					  address))
			continue;
		__atomic_fetch_sub(&own->elsewhere, 1, __ATOMIC_RELAXED);
		return true;
	}
	return false;
}

static inline void agent_remove_mark(struct agent_marks *marks,
				     uint64_t address)
{
	const unsigned home = agent_mark_home(address);

	if (agent_take_mark(marks->lines, home, address))
		agent_uncount_mark(&marks->marked[home]);
}

#endif
