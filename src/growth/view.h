/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GROWTH_VIEW_H
#define CALLTRAP_GROWTH_VIEW_H

#include "growth/growth.h"
#include "sysdeps/linux/vitals.h"

/*
 * What the kernel says of a process's memory, beside what was seen to happen to
 * it: what the totals don't explain is told by name.
 */
struct growth_unseen {
	char *name;     /* of a file, "[stack]", … or "" */
	uint64_t bytes; /* mapped, and not seen to be */
};

struct growth_view {
	uint64_t time; /* monotonic; 0: there is none */
	uint64_t virtual_bytes;
	struct vitals vitals;
	struct growth_total totals[GROWTH_KINDS];
	struct growth_unseen *unseen; /* the most first */
	size_t count, room;
	uint64_t vanished; /* seen to be mapped, and not there */
};

/* What is there is learnt when watching begins. */
void growth_begin(struct growth *growth, pid_t pid, const struct vitals *vitals,
		  uint64_t now);

/*
 * Has a look at a process that goes on: the last one counts. Now and then:
 * only if that takes no time to speak of. When it is gone: nothing happens.
 */
void growth_look(struct growth *growth, pid_t pid, const struct vitals *vitals,
		 uint64_t now, bool now_and_then);

/* NULL when there was none. */
const struct growth_view *growth_first_view(const struct growth *growth);
const struct growth_view *growth_last_view(const struct growth *growth);

#endif
