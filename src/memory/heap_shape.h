/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_SHAPE_H
#define CALLTRAP_HEAP_SHAPE_H

#include <sys/types.h>

#include "memory/glibc.h"

/* Blocks in use of one size. */
struct heap_size {
	uint64_t bytes; /* of one of them */
	uint64_t count;
	uint64_t pinning; /* so many keep pages that are free but for an
			     eighth or less */
};

/* How the blocks of glibc's malloc lie in its pages. */
struct heap_shape {
	uint64_t trim_resident;  /* what malloc_trim(0) would give back: of the
				   resident memory, … */
	uint64_t trim_virtual;   /* … and of the address space */
	uint64_t top_resident;   /* free at the tops of other arenas, which
				   it leaves alone */
	uint64_t pinned_pages;   /* resident, in use to an eighth or less */
	uint64_t pinned_used;    /* bytes in use there */
	struct heap_size *sizes; /* those that hold most come first */
	size_t size_count, size_room;
};

void heap_shape_find(const struct glibc *glibc, pid_t pid,
		     struct heap_shape *ret);
void heap_shape_fini(struct heap_shape *shape);

#endif
