/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PAGE_MEMORY_H
#define CALLTRAP_PAGE_MEMORY_H

#include "base/memory.h"

/*
 * The memory of something that doesn't run meanwhile, a few pages of which are
 * kept: to read one of a process costs hardly more than to read a word of it.
 * It can't be written.
 */
#define MEMORY_PAGE  4096
#define MEMORY_PAGES 12

struct memory_page {
	taddr_t start;
	size_t size; /* of what could be read */
	uint8_t bytes[MEMORY_PAGE];
};

struct page_memory {
	struct memory memory;
	struct memory *original;
	unsigned count;
	unsigned next; /* the one that is given up first */
	struct memory_page list[MEMORY_PAGES];
};

void page_memory_init(struct page_memory *pages, struct memory *original);

#endif
