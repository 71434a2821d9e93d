/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_INCIDENTS_H
#define CALLTRAP_INCIDENTS_H

#include "heap/heap.h"

/* Pairs of stacks that something has happened between, each kept once. */
struct incident_entry;

/* Some pairs come with nearly each call: what one library acquires and another
   gives back. */
#define INCIDENTS_RECENT 256

struct incidents {
	struct incident_entry *by_pair;
	struct incident_entry *recent[INCIDENTS_RECENT]; /* by hash; or NULL */
	struct incident_entry **list[INCIDENT_KINDS];
	size_t count[INCIDENT_KINDS], room[INCIDENT_KINDS];
	uint64_t dropped[INCIDENT_KINDS];
	size_t limit; /* of each kind */
};

void incidents_fini(struct incidents *incidents);

/* One more of this kind, at first_time. Its .count and .last_time are not
   looked at. NULL when there was no room. */
struct incident *incidents_add(struct incidents *incidents,
			       const struct incident *incident);

/* So many of it were none after all; with the last one it is gone. */
void incidents_withdraw(struct incidents *incidents, struct incident *incident,
			uint64_t count);
const struct incident *incidents_at(const struct incidents *incidents,
				    enum incident_kind kind, size_t index);
size_t incidents_bytes(const struct incidents *incidents);

#endif
