/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/caller.h"

#include <string.h>

#include "base/xalloc.h"
#include "naming/origin.h"

/* Neighbours are of one file most of the time: what is true of one is of both. */
static bool are_alike(const struct frame *a, const struct frame *b)
{
	return a->code == b->code &&
	       (a->method == FRAME_SCRIPT) == (b->method == FRAME_SCRIPT);
}

size_t heap_caller_first(const struct frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i && are_alike(&frames[i], &frames[i - 1]))
			continue;
		if (origin_is_own(&frames[i]))
			return i;
	}
	for (size_t i = 0; i < count; i++)
		if (frames[i].method == FRAME_SCRIPT)
			return i;
	return 0;
}

/* The innermost frame with a name so far, and where it is. */
struct found {
	const struct frame_name *name;
	struct frame frame;
};

/* Wrappers of wrappers are not looked for further out. */
#define WRAPPER_DEPTH 8

/* A place in a stack: a frame, and the names that it stands for. */
struct name_position {
	size_t frame, name;
};

/* Whether the search is over. An inlined wrapper may have the name of what it
   calls. */
static bool look_at(struct namer *namer, const struct site *site,
		    const struct frame *frame, size_t first,
		    struct found *found)
{
	bool between = origin_is_c_library(frame);
	const struct frame_name *names;
	size_t count = namer_names(namer, frame, &names);

	for (size_t i = first; i < count; i++) {
		bool last = !between && !origin_is_language(&names[i]);

		const char *symbol = names[i].linkage ? names[i].linkage :
							names[i].function;

		if (!symbol || !names[i].function ||
		    !strcmp(symbol, site->function->name))
			continue;
		if (!found->name || last)
			*found = (struct found){ &names[i], *frame };
		if (last)
			return true;
	}
	return !found->name;
}

/* Whether one was found that deserves it, not only the first with a name. */
static bool search(struct namer *namer, const struct site *site,
		   const struct frame *frames, size_t count,
		   struct name_position from, struct found *found)
{
	for (size_t i = from.frame; i < count; i++)
		if (look_at(namer, site, &frames[i],
			    i == from.frame ? from.name : 0, found))
			return found->name;
	return false;
}

/* Behind the outermost wrapper that is near. */
static struct name_position behind_wrappers(const struct wrappers *wrappers,
					    struct namer *namer,
					    const struct frame *frames,
					    size_t count, size_t first)
{
	struct name_position result = { first, 0 };

	for (size_t i = first; i < count && i < first + WRAPPER_DEPTH; i++) {
		const struct frame_name *names;
		size_t length = namer_names(namer, &frames[i], &names);

		for (size_t n = 0; n < length; n++)
			if (wrappers_have(wrappers, &names[n]))
				result = n + 1 < length ?
						 (struct name_position){
							 i, n + 1
						 } :
						 (struct name_position){ i + 1,
									 0 };
	}
	return result;
}

bool heap_caller_own_frame(const struct stacks *stacks, const struct site *site,
			   struct frame *frame_ret)
{
	struct frame frames[HEAP_CALLER_DEPTH];
	size_t count =
		stacks_frames(stacks, site->stack, frames, ARRAY_SIZE(frames));
	size_t own = heap_caller_first(frames, count);

	/* A handle comes from the call that acquires what it needs, too. */
	if (!own && (!count || site->function->family->has_size ||
		     !origin_is_own(&frames[0])))
		return false;
	*frame_ret = frames[own];
	return true;
}

const struct frame_name *heap_caller(const struct stacks *stacks,
				     struct namer *namer,
				     const struct wrappers *wrappers,
				     const struct site *site,
				     struct frame *frame_ret)
{
	size_t count;
	struct frame *frames CLEANUP(xfree_cleanup) =
		namer_frames(namer, stacks, site->stack, site->function->name,
			     &count);
	struct name_position first = { 0 }, from;
	struct found found = { 0 };
	bool passed;

	if (count > HEAP_CALLER_DEPTH)
		count = HEAP_CALLER_DEPTH;
	first.frame = heap_caller_first(frames, count);
	from = first;
	if (wrappers)
		from = behind_wrappers(wrappers, namer, frames, count,
				       first.frame);
	passed = from.frame != first.frame || from.name;
	if (!search(namer, site, frames, count, from, &found) && passed) {
		found = (struct found){ 0 };
		(void)search(namer, site, frames, count, first, &found);
	}
	if (found.name)
		*frame_ret = found.frame;
	return found.name;
}
