/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap_caller.h"

#include <string.h>

/*
 * Symbols of C++'s and Rust's own libraries: who has called a container is of
 * interest, not how it got to the allocator.
 */
bool heap_caller_is_of_language(const struct frame_name *name)
{
	static const char *const beginnings[] = {
		"_ZNSt", "_ZNKSt", "_ZSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx",
		"_ZN5alloc", "_ZN4core", "_ZN3std", "__rust_", "__rdl_", "__rg_",
	};

	for (size_t i = 0; name->linkage && i < ARRAY_SIZE(beginnings); i++)
		if (!strncmp(name->linkage, beginnings[i],
			     strlen(beginnings[i])))
			return true;
	return false;
}

bool heap_caller_is_of_c_library(const struct frame *frame)
{
	const struct image *image = frame->code->image;
	const char *soname = image ? image_soname(image) : NULL;

	return soname && (!strncmp(soname, "libc.", 5) ||
			  !strncmp(soname, "ld-", 3));
}

/* The innermost frame with a name so far, and where it is. */
struct found {
	const struct frame_name *name;
	struct frame frame;
};

/* Whether the search is over. An inlined wrapper may have the name of what it
   calls. */
static bool look_at(const struct heap_report_config *config,
		    const struct site *site, const struct frame *frame,
		    struct found *found)
{
	bool between = heap_caller_is_of_c_library(frame);
	const struct frame_name *names;
	size_t count = namer_names(config->namer, frame, &names);

	for (size_t i = 0; i < count; i++) {
		bool last = !between && !heap_caller_is_of_language(&names[i]);

		if (!names[i].function ||
		    !strcmp(names[i].function, site->function->name))
			continue;
		if (!found->name || last)
			*found = (struct found){ &names[i], *frame };
		if (last)
			return true;
	}
	return !found->name;
}

const struct frame_name *heap_caller(const struct heap_report_config *config,
				     const struct site *site,
				     struct frame *frame_ret)
{
	struct frame frames[HEAP_CALLER_DEPTH];
	size_t count = stacks_frames(config->stacks, site->stack, frames,
				     ARRAY_SIZE(frames));
	struct found found = { 0 };

	for (size_t i = 0; i < count; i++)
		if (look_at(config, site, &frames[i], &found))
			break;
	if (found.name)
		*frame_ret = found.frame;
	return found.name;
}
