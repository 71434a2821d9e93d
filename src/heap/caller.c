/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/caller.h"

#include <string.h>

#include "naming/origin.h"

/* The innermost frame of code that isn't the system's; 0 if there is none. */
static size_t first_own(const struct frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (origin_is_own(&frames[i]))
			return i;
	return 0;
}

/* The innermost frame with a name so far, and where it is. */
struct found {
	const struct frame_name *name;
	struct frame frame;
};

/* Whether the search is over. An inlined wrapper may have the name of what it
   calls. */
static bool look_at(struct namer *namer, const struct site *site,
		    const struct frame *frame,
		    struct found *found)
{
	bool between = origin_is_c_library(frame);
	const struct frame_name *names;
	size_t count = namer_names(namer, frame, &names);

	for (size_t i = 0; i < count; i++) {
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

bool heap_caller_own_frame(const struct stacks *stacks,
			   const struct site *site, struct frame *frame_ret)
{
	struct frame frames[HEAP_CALLER_DEPTH];
	size_t count = stacks_frames(stacks, site->stack, frames,
				     ARRAY_SIZE(frames));
	size_t own = first_own(frames, count);

	/* A handle comes from the call that acquires what it needs, too. */
	if (!own && (!count || site->function->family->has_size ||
		     !origin_is_own(&frames[0])))
		return false;
	*frame_ret = frames[own];
	return true;
}

const struct frame_name *heap_caller(const struct stacks *stacks,
				     struct namer *namer,
				     const struct site *site,
				     struct frame *frame_ret)
{
	struct frame frames[HEAP_CALLER_DEPTH];
	size_t count = stacks_frames(stacks, site->stack, frames,
				     ARRAY_SIZE(frames));
	struct found found = { 0 };

	for (size_t i = first_own(frames, count); i < count; i++)
		if (look_at(namer, site, &frames[i], &found))
			break;
	if (found.name)
		*frame_ret = found.frame;
	return found.name;
}
