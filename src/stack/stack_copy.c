/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stack/stack_copy.h"

#include <string.h>

/* No stack reaches farther than that. */
#define REACH (UINT64_C(1) << 30)

static size_t read_copy(struct memory *memory, taddr_t address, void *ret,
			size_t size)
{
	struct stack_copy *copy = (struct stack_copy *)memory;
	uint64_t offset = address - copy->address;

	if (offset < copy->size) {
		if (size > copy->size - offset)
			size = copy->size - offset;
		memcpy(ret, copy->bytes + offset, size);
		return size;
	}
	if (offset < REACH) {
		copy->was_short |= copy->goes_on;
		return 0;
	}
	if (size > copy->address - address)
		size = copy->address - address;
	return memory_read_some(copy->now, address, ret, size);
}

static const struct memory_ops ops = {
	.read = read_copy,
};

void stack_copy_init(struct stack_copy *copy, struct memory *now,
		     taddr_t address, const void *bytes, size_t size,
		     bool goes_on)
{
	*copy = (struct stack_copy){
		.memory.ops = &ops,
		.now = now,
		.address = address,
		.bytes = bytes,
		.size = size,
		.goes_on = goes_on,
	};
}
