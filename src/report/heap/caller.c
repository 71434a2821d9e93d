/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/caller.h"

#include <string.h>

static bool begins(const char *symbol, const char *const *with, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(symbol, with[i], strlen(with[i])))
			return true;
	return false;
}

/* Such end in a hash: C++ may have a namespace core, too. */
static bool is_of_rust(const char *symbol)
{
	size_t length = strlen(symbol);

	return length > 20 && !strncmp(symbol + length - 20, "17h", 3);
}

/*
 * Symbols of C++'s and Rust's own libraries: who has called a container is of
 * interest, not how it got to the allocator.
 */
bool heap_caller_is_of_language(const struct frame_name *name)
{
	static const char *const beginnings[] = {
		"_ZNSt", "_ZNKSt", "_ZSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx",
		"__rust_", "__rdl_", "__rg_",
	};
	static const char *const crates[] = { "_ZN5alloc", "_ZN4core",
					      "_ZN3std" };

	return name->linkage &&
	       (begins(name->linkage, beginnings, ARRAY_SIZE(beginnings)) ||
		(is_of_rust(name->linkage) &&
		 begins(name->linkage, crates, ARRAY_SIZE(crates))));
}

bool heap_caller_is_of_c_library(const struct frame *frame)
{
	const struct image *image = frame->code->image;
	const char *soname = image ? image_soname(image) : NULL;

	return soname && (!strncmp(soname, "libc.", 5) ||
			  !strncmp(soname, "ld-", 3));
}

/* Whether a file was installed with the system, and is nobody's own work. */
static bool is_installed(const char *path)
{
	static const char *const folders[] = { "/lib/",     "/lib32/",
					       "/lib64/",   "/libx32/",
					       "/usr/",     "/bin/",
					       "/sbin/",    "/snap/" };

	return begins(path, folders, ARRAY_SIZE(folders)) &&
	       strncmp(path, "/usr/local/", strlen("/usr/local/")) != 0;
}

static bool is_own(const struct frame *frame)
{
	const char *path = frame->code->path;

	return *path == '/' && !is_installed(path);
}

/* The innermost frame of code that isn't the system's; 0 if there is none. */
static size_t first_own(const struct frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_own(&frames[i]))
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
static bool look_at(const struct heap_report_config *config,
		    const struct site *site, const struct frame *frame,
		    struct found *found)
{
	bool between = heap_caller_is_of_c_library(frame);
	const struct frame_name *names;
	size_t count = namer_names(config->namer, frame, &names);

	for (size_t i = 0; i < count; i++) {
		bool last = !between && !heap_caller_is_of_language(&names[i]);

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

bool heap_caller_own_frame(const struct heap_report_config *config,
			   const struct site *site, struct frame *frame_ret)
{
	struct frame frames[HEAP_CALLER_DEPTH];
	size_t count = stacks_frames(config->stacks, site->stack, frames,
				     ARRAY_SIZE(frames));
	size_t own = first_own(frames, count);

	/* A handle comes from the call that acquires what it needs, too. */
	if (!own && (!count || site->function->family->has_size ||
		     !is_own(&frames[0])))
		return false;
	*frame_ret = frames[own];
	return true;
}

const struct frame_name *heap_caller(const struct heap_report_config *config,
				     const struct site *site,
				     struct frame *frame_ret)
{
	struct frame frames[HEAP_CALLER_DEPTH];
	size_t count = stacks_frames(config->stacks, site->stack, frames,
				     ARRAY_SIZE(frames));
	struct found found = { 0 };

	for (size_t i = first_own(frames, count); i < count; i++)
		if (look_at(config, site, &frames[i], &found))
			break;
	if (found.name)
		*frame_ret = found.frame;
	return found.name;
}
