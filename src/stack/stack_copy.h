/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_STACK_COPY_H
#define CALLTRAP_STACK_COPY_H

#include <stdbool.h>

#include "base/memory.h"

/*
 * Memory of which a part, the innermost end of a stack, is as it was at an
 * earlier time. The rest of that stack is not known any more; everything else
 * is asked of the memory as it is now, for code doesn't change.
 */
struct stack_copy {
	struct memory memory;
	struct memory *now;
	taddr_t address;
	const uint8_t *bytes;
	size_t size;
	bool goes_on;   /* there was more of the stack than was copied */
	bool was_short; /* … and somebody has asked for it */
};

void stack_copy_init(struct stack_copy *copy, struct memory *now,
		     taddr_t address, const void *bytes, size_t size,
		     bool goes_on);

#endif
