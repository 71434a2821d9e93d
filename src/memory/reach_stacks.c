/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "memory/reach_private.h"

/*
 * Stacks of threads that have ended, which glibc keeps for others: what lies
 * there is no longer anybody's. At the upper end of each is the thread's struct
 * pthread (nptl/descr.h; x86-64), which is believed only if it is in a list of
 * such, and says that this is its stack.
 */
#define PD_VECTOR 8 /* as in a TCB, which it begins with */
#define PD_SELF   16
#define PD_LIST   704 /* next, previous */
#define PD_TID    720 /* 0: it has ended; -1: … and was joined */
#define PD_SIZE   2048
#define PD_ALIGN  64

#define WORDS (PD_SIZE / 8)

/* The vector points behind its first element, which says how many there are. */
#define VECTOR_BACK 16

static bool read_word(const struct reacher *reacher, taddr_t address,
		      uint64_t *ret)
{
	return !memory_read((struct memory *)&reacher->picture->memory, address,
			    ret, sizeof(*ret));
}

static bool is_in_list(const struct reacher *reacher, taddr_t pd,
		       const uint64_t *words)
{
	const taddr_t here = pd + PD_LIST;
	uint64_t back, forth;

	return read_word(reacher, words[PD_LIST / 8] + 8, &back) &&
	       read_word(reacher, words[PD_LIST / 8 + 1], &forth) &&
	       back == here && forth == here;
}

/* Where the stack ends that begins with the guard, as it says itself; or 0. */
static taddr_t stack_end(const struct mapping *guard,
			 const struct mapping *stack, taddr_t pd,
			 const uint64_t *words)
{
	for (size_t i = PD_TID / 8; i + 1 < WORDS; i++) {
		const taddr_t end = words[i] + words[i + 1];

		if (words[i] == guard->start && end > pd && end <= stack->end)
			return end;
	}
	return 0;
}

static bool is_dead(const struct reacher *reacher, const struct mapping *stack,
		    taddr_t pd, struct dead_stack *ret)
{
	uint64_t words[WORDS] = { 0 };
	taddr_t end;
	int32_t tid;

	(void)memory_read_some((struct memory *)&reacher->picture->memory, pd,
			       words, sizeof(words));
	memcpy(&tid, (const uint8_t *)words + PD_TID, sizeof(tid));
	end = stack_end(stack - 1, stack, pd, words);
	if (words[0] != pd || words[PD_SELF / 8] != pd || tid > 0 || !end ||
	    !is_in_list(reacher, pd, words))
		return false;
	*ret = (struct dead_stack){
		.start = stack->start,
		/* What a thread returned is kept until it is joined. */
		.end = tid ? end : pd,
		.vector = words[PD_VECTOR / 8] - VECTOR_BACK,
	};
	return true;
}

bool reach_find_dead_stack(const struct reacher *reacher,
			   const struct mapping *stack, struct dead_stack *ret)
{
	taddr_t start = stack->start;
	struct picture_part part;
	size_t hint = 0;

	while (picture_next(reacher->picture, &hint, start, stack->end,
			    &part)) {
		taddr_t at = (part.start + PD_ALIGN - 1) &
			     ~(taddr_t)(PD_ALIGN - 1);

		for (; at < part.end; at += PD_ALIGN) {
			uint64_t word;

			memcpy(&word, part.bytes + (at - part.start),
			       sizeof(word));
			if (word == at && is_dead(reacher, stack, at, ret))
				return true;
		}
		start = part.end;
	}
	return false;
}
