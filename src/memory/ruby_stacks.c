/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/ruby_stacks.h"

#include <stdlib.h>

#include "base/xalloc.h"

/* struct rb_execution_context_struct begins so, and is part of a thread or of a
   fiber, which are blocks of malloc's (vm_core.h, cont.c of Ruby 3.1). */
struct execution_context {
	taddr_t stack;
	uint64_t words;
	taddr_t frame;
};

/* rb_control_frame_struct */
struct control_frame {
	taddr_t instruction, values_end;
};

#define OWNER_LEAST 256
#define OWNER_MOST  4096
#define WORDS_LEAST 1024
#define WORDS_MOST  (UINT64_C(1) << 24)

/* Of frames that are looked at. Fibers have a mapping each, and there are 65,530 of
   these in a process; a program that has more makes them up. */
#define FRAMES_MOST (1u << 18)

struct stack_look {
	struct memory *memory;
	const struct mappings *mappings;
	unsigned left; /* frames that may still be looked at */
};

static bool is_within(taddr_t address, taddr_t start, taddr_t end)
{
	return address % sizeof(address) == 0 && address >= start &&
	       address <= end;
}

static bool may_be_stack(const struct execution_context *it)
{
	const taddr_t end = it->stack + it->words * sizeof(taddr_t);

	return it->words >= WORDS_LEAST && it->words <= WORDS_MOST &&
	       it->stack && it->stack % sizeof(taddr_t) == 0 &&
	       end >= it->stack && is_within(it->frame, it->stack, end - 1);
}

/* Whoever has it has got it as one piece, that it writes to. */
static bool is_in_one(const struct mappings *mappings,
		      const struct execution_context *it)
{
	const struct mapping *mapping = mappings_find(mappings, it->stack);

	return mapping && mapping->writable &&
	       it->words * sizeof(taddr_t) <= mapping->end - it->stack;
}

static bool is_stack(const struct stack_look *look,
		     const struct execution_context *it, struct ruby_stack *ret)
{
	struct control_frame frame;

	if (!is_in_one(look->mappings, it) ||
	    memory_read(look->memory, it->frame, &frame, sizeof(frame)) ||
	    !is_within(frame.values_end, it->stack, it->frame))
		return false;
	*ret = (struct ruby_stack){
		.start = it->stack,
		.values_end = frame.values_end,
		.frames = it->frame,
		.end = it->stack + it->words * sizeof(taddr_t),
	};
	return true;
}

/* Who has one has no other. */
static void find_in(struct stack_look *look, const struct block *block,
		    struct ruby_stacks *stacks)
{
	uint64_t words[OWNER_MOST / sizeof(uint64_t)];
	const size_t count = block_usable(block) / sizeof(*words);
	bool found = false;

	if (memory_read(look->memory, block->address, words,
			count * sizeof(*words)))
		return;
	for (size_t i = 0; !found && look->left && i + 3 <= count; i++) {
		const struct execution_context it = { words[i], words[i + 1],
						      words[i + 2] };
		struct ruby_stack stack;

		if (!may_be_stack(&it))
			continue;
		look->left--;
		found = is_stack(look, &it, &stack);
		if (!found)
			continue;
		stacks->list = xgrow(stacks->list, stacks->count, &stacks->room,
				     sizeof(*stacks->list));
		stacks->list[stacks->count++] = stack;
	}
}

static int compare(const void *a, const void *b)
{
	const struct ruby_stack *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static uint64_t size_of(const struct ruby_stack *stack)
{
	return stack->end - stack->start;
}

/* Words that look like one by chance, from some address to another, take in what is
   between these: the shorter one is it. */
static void drop_overlapping(struct ruby_stacks *stacks)
{
	size_t kept = 0;

	for (size_t i = 0; i < stacks->count; i++) {
		const struct ruby_stack *stack = &stacks->list[i];
		struct ruby_stack *last = kept ? &stacks->list[kept - 1] : NULL;

		if (!last || last->end <= stack->start)
			stacks->list[kept++] = *stack;
		else if (size_of(stack) < size_of(last))
			*last = *stack;
	}
	stacks->count = kept;
}

void ruby_stacks_find(struct memory *memory, const struct mappings *mappings,
		      const struct blocks *blocks, struct ruby_stacks *ret)
{
	struct stack_look look = { memory, mappings, FRAMES_MOST };

	*ret = (struct ruby_stacks){ .list = NULL };
	for (size_t i = 0; look.left && i < blocks->count; i++) {
		const struct block *block = &blocks->list[i];
		const uint64_t usable = block_usable(block);

		if (block_is_used(block) && !block->object && !block->part &&
		    usable >= OWNER_LEAST && usable <= OWNER_MOST)
			find_in(&look, block, ret);
	}
	if (!ret->count)
		return;
	qsort(ret->list, ret->count, sizeof(*ret->list), compare);
	drop_overlapping(ret);
}

void ruby_stacks_fini(struct ruby_stacks *stacks)
{
	free(stacks->list);
	*stacks = (struct ruby_stacks){ .list = NULL };
}

const struct ruby_stack *ruby_stacks_around(const struct ruby_stacks *stacks,
					    taddr_t address)
{
	size_t low = 0, high = stacks->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (stacks->list[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < stacks->count && stacks->list[low].start <= address ?
		       &stacks->list[low] :
		       NULL;
}
