/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_RUBY_STACKS_H
#define CALLTRAP_RUBY_STACKS_H

#include "base/memory.h"
#include "memory/blocks.h"
#include "memory/mappings.h"

/*
 * Where Ruby has its threads' and fibers' own stacks, wherever these lie: a block of
 * malloc's, C's stack, a mapping. Values grow from the beginning, frames of control
 * from the end; what is between them methods have left there.
 */
struct ruby_stack {
	taddr_t start, values_end, frames, end;
};

struct ruby_stacks {
	struct ruby_stack *list; /* by address; they don't overlap */
	size_t count, room;
};

void ruby_stacks_find(struct memory *memory, const struct mappings *mappings,
		      const struct blocks *blocks, struct ruby_stacks *ret);
void ruby_stacks_fini(struct ruby_stacks *stacks);

/* The one that an address lies in, or NULL. */
const struct ruby_stack *ruby_stacks_around(const struct ruby_stacks *stacks,
					    taddr_t address);

static inline bool ruby_stack_uses(const struct ruby_stack *stack,
				   taddr_t address)
{
	return address < stack->values_end || address >= stack->frames;
}

#endif
