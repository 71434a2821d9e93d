/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PERF_RING_H
#define CALLTRAP_PERF_RING_H

#include <stdbool.h>

#include "base/types.h"

/* A record's size is a number of 16 bits. */
#define PERF_RECORD_ROOM 65536

/*
 * Records that the kernel writes into a ring: PERF_RECORD_*, see
 * perf_event_open(2). What it has written lies between tail and head, which
 * count bytes and never wrap.
 */
struct perf_ring {
	const uint8_t *bytes;
	size_t size; /* a power of two */
	uint64_t head, tail;
	uint64_t malformed; /* times that the rest made no sense, and was
			       passed over */
	uint8_t *unwrapped; /* room for PERF_RECORD_ROOM bytes */
};

struct perf_record {
	uint32_t type;
	uint16_t misc;
	const uint8_t *body; /* what comes behind the header */
	size_t size;
};

/* The next record, in one piece; good until the next call. */
bool perf_ring_next(struct perf_ring *ring, struct perf_record *ret);

#endif
