/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/xalloc.h"
#include "probe/private.h"
#include "sysdeps/linux/procfs.h"

/* In words: of a goroutine's data, and of its thread's. */
#define GO_LOW    0
#define GO_HIGH   1
#define GO_THREAD 6
#define GO_WORDS  7

/* The goroutine of a thread that starts others has the thread's stack, which C's
   functions are called on, too. */
static bool is_system_stack(const struct moment *moment, taddr_t goroutine,
			    taddr_t thread)
{
	uint64_t first;

	return !memory_read(moment->memory, thread, &first, sizeof(first)) &&
	       first == goroutine;
}

/*
 * Go copies a goroutine's stack to a larger place when it runs out, and then
 * begins the function anew whose prologue noticed. A goroutine's data begin
 * with the bounds of its stack; what lies on that keeps its distance from the
 * upper one.
 */
static bool go_frame_key(const struct moment *moment, taddr_t slot,
			 struct frame_key *ret)
{
	uint64_t goroutine = moment->arch->goroutine(moment->regs);
	uint64_t words[GO_WORDS];

	if (memory_read(moment->memory, goroutine, words, sizeof(words)) ||
	    slot < words[GO_LOW] || slot >= words[GO_HIGH] ||
	    is_system_stack(moment, goroutine, words[GO_THREAD]))
		return false;
	*ret = (struct frame_key){ goroutine, words[GO_HIGH] - slot };
	return true;
}

struct frame_key frame_key(const struct moment *moment, taddr_t slot)
{
	struct frame_key key = { 0, slot };

	if (moment->space->is_go && moment->arch->goroutine)
		(void)go_frame_key(moment, slot, &key);
	return key;
}

bool frame_is_below(const struct frame_key *key, taddr_t slot)
{
	return !key->stack && key->slot < slot;
}

static bool cached_mapping_holds(const struct probe_space *space, taddr_t a)
{
	return a >= space->mapping_low && a < space->mapping_high;
}

/* Whoever stood last may have ended since, and the first thread before others: what
   is past is told of without a stop. */
static bool find_mapping(const struct moment *moment, taddr_t address,
			 struct procfs_mapping *ret)
{
	return procfs_find_mapping(moment->space->space->memory.pid, address,
				   ret) ||
	       (moment->past &&
		(procfs_find_mapping(moment->pid, address, ret) ||
		 procfs_find_mapping(moment->tid, address, ret)));
}

bool mapping_is_one(const struct moment *moment, taddr_t a, taddr_t b)
{
	struct probe_space *space = moment->space;
	struct procfs_mapping *mapping CLEANUP(xfree_cleanup) = NULL;

	if (cached_mapping_holds(space, a) && cached_mapping_holds(space, b))
		return true;
	mapping = xmalloc(sizeof(*mapping));
	if (!find_mapping(moment, a, mapping))
		return false;
	space->mapping_low = mapping->start;
	space->mapping_high = mapping->end;
	return cached_mapping_holds(space, b);
}
