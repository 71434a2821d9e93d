/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/with_constants.h"

static size_t read_either(struct memory *memory, taddr_t address, void *ret,
			  size_t size)
{
	struct with_constants *both = (struct with_constants *)memory;
	const struct mapping *mapping = mappings_find(both->mappings, address);
	struct memory *from = (struct memory *)&both->picture->memory;

	if (mapping && mapping->inode && !mapping->writable)
		from = both->constants;
	return memory_read_some(from, address, ret, size);
}

static const struct memory_ops ops = { .read = read_either };

void with_constants_init(struct with_constants *ret,
			 const struct picture *picture,
			 const struct mappings *mappings,
			 struct memory *constants)
{
	*ret = (struct with_constants){
		.memory.ops = &ops,
		.picture = picture,
		.mappings = mappings,
		.constants = constants,
	};
}
