/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_MEMORY_PAGES_H
#define CALLTRAP_MEMORY_PAGES_H

#include "memory/picture.h"
#include "sysdeps/linux/pagemap.h"

/* Which pages of a process are in memory, or swapped out, at about one time. */
struct pages {
	struct page_run *runs; /* by address */
	size_t count, room;
	bool huge_known; /* the kernel tells which pages are huge */
	bool unknown; /* of some it doesn't tell even whether they are there */
};

/* A negative errno when nothing can be known. */
int pages_read(const struct mappings *mappings, struct pages *ret) MUST_CHECK;
void pages_fini(struct pages *pages);

/* Bytes of [start, end); as far as memory goes where that wraps. */
struct page_sums pages_count(const struct pages *pages, taddr_t start,
			     taddr_t end);

#endif
