/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PAGE_TABLE_H
#define CALLTRAP_PAGE_TABLE_H

#include <stdbool.h>

#include "base/types.h"

/* Which site has touched a page: a number above 0, in no time that grows with
   the number of pages. */
struct page_table {
	struct page_block *blocks;
};

struct touched_page {
	taddr_t address;
	uint32_t site;
};

struct touched_pages {
	struct touched_page *items;
	size_t count, room;
};

void page_table_fini(struct page_table *table);

/* Returns the site that the page had before, or 0. */
uint32_t page_table_set(struct page_table *table, taddr_t address,
			uint32_t site);

/* Whether any page near that one is known: within the same 2 MiB. */
bool page_table_has_near(const struct page_table *table, taddr_t address);

/* Takes out the pages of [begin, end), in no order. */
void page_table_take(struct page_table *table, taddr_t begin, taddr_t end,
		     struct touched_pages *ret);

void touched_pages_fini(struct touched_pages *pages);

#endif
