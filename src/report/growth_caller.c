/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "report/growth_rows.h"
#include "report/heap_caller.h"

/* Who is behind a brk or an mmap. */

/*
 * What programs call to have memory, and what that calls in turn: static
 * programs have no library that could tell.
 */
static bool is_of_allocator(const char *symbol)
{
	static const char *const names[] = {
		"malloc",         "calloc",         "realloc",
		"free",           "cfree",          "memalign",
		"posix_memalign", "aligned_alloc",  "valloc",
		"pvalloc",        "reallocarray",   "brk",
		"sbrk",           "mmap",           "mmap64",
		"mremap",         "munmap",         "sysmalloc",
		"systrim",        "munmap_chunk",   "mremap_chunk",
		"sysmalloc_mmap", "tcache_init",    "new_heap",
		"heap_trim",      "arena_get2",     "default_morecore",
		"glibc_morecore", "pthread_create", "allocate_stack",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(symbol, names[i]))
			return true;
	return !strncmp(symbol, "Znw", 3) || !strncmp(symbol, "Zna", 3) ||
	       !strncmp(symbol, "int_", 4) || !strncmp(symbol, "libc_", 5);
}

static bool is_between(const struct frame *frame,
		       const struct frame_name *name)
{
	const char *symbol = name->linkage ? name->linkage : name->function;

	return heap_caller_is_of_c_library(frame) ||
	       heap_caller_is_of_language(name) ||
	       is_of_allocator(symbol + strspn(symbol, "_"));
}

const struct frame_name *growth_caller(const struct heap_report_config *config,
				       stack_id stack, struct frame *ret)
{
	struct frame frames[UNWIND_DEPTH_MAX];
	size_t count = stacks_frames(config->stacks, stack, frames,
				     ARRAY_SIZE(frames));

	for (size_t i = 0; i < count; i++) {
		const struct frame_name *names;
		size_t inlined = namer_names(config->namer, &frames[i],
					     &names);

		for (size_t k = 0; k < inlined; k++) {
			if (!names[k].function ||
			    is_between(&frames[i], &names[k]))
				continue;
			*ret = frames[i];
			return &names[k];
		}
	}
	return NULL;
}
