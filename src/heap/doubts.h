/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DOUBTS_H
#define CALLTRAP_DOUBTS_H

#include "heap/incidents.h"

/*
 * When the double frees of late were. That acquisitions were missed is known
 * only some time after, and is the better explanation of those in between.
 */
struct doubt;

struct doubts {
	struct doubt *items; /* by time */
	size_t count, room;
};

void doubts_fini(struct doubts *doubts);
void doubts_add(struct doubts *doubts, struct incident *incident,
		uint64_t time);

/* Those since that time may be none: they count as doubtful. */
void doubts_withdraw(struct heap *heap, uint64_t since);
size_t doubts_bytes(const struct doubts *doubts);

#endif
