/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/place.h"

#include <string.h>

static size_t read_bytes(struct memory *memory, taddr_t address, void *ret,
			 size_t size)
{
	struct bytes_memory *held = (struct bytes_memory *)memory;

	if (address >= held->size)
		return 0;
	if (size > held->size - address)
		size = held->size - address;
	memcpy(ret, held->bytes + address, size);
	return size;
}

static const struct memory_ops bytes_ops = {
	.read = read_bytes,
};

struct bytes_memory bytes_memory_of(const void *bytes, size_t size)
{
	return (struct bytes_memory){ { &bytes_ops }, bytes, size };
}

bool place_is_readable(struct place place)
{
	char byte;

	return memory_read(place.memory, place.address, &byte, 1) == 0;
}
