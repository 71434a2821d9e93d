/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/perf_ring.h"

#include <linux/perf_event.h>
#include <string.h>

/* Bytes of the ring in one piece: in place, or in ours where it wraps. */
static const uint8_t *piece(const struct perf_ring *ring, size_t size)
{
	size_t at = ring->tail & (ring->size - 1);
	size_t first = ring->size - at;

	if (size <= first)
		return ring->bytes + at;
	memcpy(ring->unwrapped, ring->bytes + at, first);
	memcpy(ring->unwrapped + first, ring->bytes, size - first);
	return ring->unwrapped;
}

static void give_up(struct perf_ring *ring)
{
	ring->malformed++;
	ring->tail = ring->head;
}

bool perf_ring_next(struct perf_ring *ring, struct perf_record *ret)
{
	struct perf_event_header header;
	uint64_t available = ring->head - ring->tail;

	if (!available)
		return false;
	if (available > ring->size || available < sizeof(header)) {
		give_up(ring);
		return false;
	}
	memcpy(&header, piece(ring, sizeof(header)), sizeof(header));
	if (header.size < sizeof(header) || header.size > available) {
		give_up(ring);
		return false;
	}
	ret->type = header.type;
	ret->misc = header.misc;
	ret->body = piece(ring, header.size) + sizeof(header);
	ret->size = header.size - sizeof(header);
	ring->tail += header.size;
	return true;
}
