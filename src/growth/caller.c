/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "growth/caller.h"

#include <string.h>

#include "naming/origin.h"
#include "stack/unwind.h"

static bool is_one_of(const char *symbol, const char *const *names,
		      size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(symbol, names[i]))
			return true;
	return false;
}

/* What programs call to have memory. */
static bool is_way_in(const char *symbol)
{
	static const char *const names[] = {
		"malloc", "calloc",   "realloc",        "free",
		"cfree",  "memalign", "posix_memalign", "aligned_alloc",
		"valloc", "pvalloc",  "reallocarray",
	};

	return is_one_of(symbol, names, ARRAY_SIZE(names)) ||
	       !strncmp(symbol, "Znw", 3) || !strncmp(symbol, "Zna", 3);
}

/* And what that calls in turn: static programs have no library that could
   tell. */
static bool is_of_allocator(const char *symbol)
{
	static const char *const names[] = {
		"brk",
		"sbrk",
		"mmap",
		"mmap64",
		"mremap",
		"munmap",
		"sysmalloc",
		"systrim",
		"munmap_chunk",
		"mremap_chunk",
		"sysmalloc_mmap",
		"tcache_init",
		"new_heap",
		"heap_trim",
		"arena_get2",
		"default_morecore",
		"glibc_morecore",
		"pthread_create",
		"allocate_stack",
	};

	return is_way_in(symbol) ||
	       is_one_of(symbol, names, ARRAY_SIZE(names)) ||
	       !strncmp(symbol, "int_", 4) || !strncmp(symbol, "libc_", 5);
}

/* Without the underscores that it may begin with. */
static const char *symbol_of(const struct frame_name *name)
{
	const char *symbol = name->linkage ? name->linkage : name->function;

	return symbol ? symbol + strspn(symbol, "_") : "";
}

static bool is_between(const struct frame *frame, const struct frame_name *name)
{
	return origin_is_c_library(frame) || origin_is_language(name) ||
	       is_of_allocator(symbol_of(name));
}

static bool is_way_in_at(struct namer *namer, const struct frame *frame)
{
	const struct frame_name *names;
	size_t count = namer_names(namer, frame, &names);

	for (size_t i = 0; i < count; i++)
		if (is_way_in(symbol_of(&names[i])))
			return true;
	return false;
}

/* Without a name: of jemalloc and the like, if their file's malloc is further
   out. How many frames that are. */
static size_t inside_allocator(struct namer *namer, const struct frame *frames,
			       size_t count)
{
	for (size_t i = 1; i < count && frames[i].code == frames[0].code; i++)
		if (is_way_in_at(namer, &frames[i]))
			return i;
	return 0;
}

const struct frame_name *growth_caller(const struct stacks *stacks,
				       struct namer *namer, stack_id stack,
				       struct frame *ret)
{
	struct frame frames[UNWIND_DEPTH_MAX];
	size_t count = stacks_frames(stacks, stack, frames, ARRAY_SIZE(frames));

	for (size_t i = 0; i < count; i++) {
		const struct frame_name *names;
		size_t inlined = namer_names(namer, &frames[i], &names);
		size_t inside =
			names->function ?
				0 :
				inside_allocator(namer, &frames[i], count - i);

		i += inside;
		for (size_t k = 0; !inside && k < inlined; k++) {
			if (is_between(&frames[i], &names[k]) ||
			    (!names[k].function && !*names[k].library))
				continue;
			*ret = frames[i];
			return &names[k];
		}
	}
	return NULL;
}
