/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PLACE_H
#define CALLTRAP_PLACE_H

#include <stdbool.h>

#include "base/memory.h"

/* Where a value lies: in the traced process, or in bytes that we hold. */
struct place {
	struct memory *memory;
	taddr_t address;
};

/* Memory that is a few bytes of ours, from address 0 on. */
struct bytes_memory {
	struct memory memory;
	const uint8_t *bytes;
	size_t size;
};

struct bytes_memory bytes_memory_of(const void *bytes, size_t size);

/* Whether there is a byte at all. */
bool place_is_readable(struct place place);

static inline struct place place_in(struct memory *memory, taddr_t address)
{
	return (struct place){ memory, address };
}

static inline struct place place_behind(struct place place, uint64_t offset)
{
	return place_in(place.memory, place.address + offset);
}

#endif
