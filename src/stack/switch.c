/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stack/private.h"

/*
 * Go calls C's functions on another stack than the goroutine's, and leaves the frame
 * pointer as it was. While C runs the goroutine's stack may be moved, if it calls
 * back: then the frame pointer that C has, or has saved, leads to where that was, and
 * where another goroutine's frames may lie by now.
 */

/* From where a stack was left to the frame on it that another one goes on at. */
#define NEAR 512

/* In words: C's frames without tables may lie below what is noted. */
#define NOTED_WITHIN 64

/* Stacks of Go's have a GiB at most. */
#define DEPTH_MAX (UINT64_C(1) << 30)

/* A goroutine's data begin with the bounds of its stack. */
static bool is_called_by(struct walk *walk, uint64_t depth, taddr_t goroutine,
			 taddr_t fp)
{
	uint64_t bounds[2];

	if (!depth || depth > DEPTH_MAX || depth % sizeof(depth) ||
	    goroutine < DEPTH_MAX || goroutine % sizeof(goroutine) ||
	    memory_read(walk->memory, goroutine, bounds, sizeof(bounds)) ||
	    bounds[1] <= bounds[0] || depth > bounds[1] - bounds[0] ||
	    fp - (bounds[1] - depth) >= NEAR)
		return false;
	walk->goroutine = goroutine;
	return true;
}

static bool is_noted(struct walk *walk, taddr_t fp)
{
	uint64_t words[NOTED_WITHIN];
	const size_t count =
		memory_read_some(walk->memory,
				 walk->registers[walk->arch->dwarf->sp], words,
				 sizeof(words)) /
		sizeof(*words);
	size_t i;

	for (i = 1; i < count; i++)
		if (is_called_by(walk, words[i - 1], words[i], fp))
			return true;
	return false;
}

/* Who calls C back goes on, on each of the two stacks, right above where it was left. */
bool switch_is_right(struct walk *walk, enum switching switching, taddr_t fp)
{
	if (switching == SWITCH_NEVER)
		return false;
	if (!walk->arch->go_leaves_fp)
		return true;
	if (walk->left)
		return fp - walk->left < NEAR;
	return is_noted(walk, fp) || switching == SWITCH_ANYHOW;
}
