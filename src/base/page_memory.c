/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/page_memory.h"

#include <errno.h>
#include <string.h>

static struct page_memory *page_memory_of(struct memory *memory)
{
	return (struct page_memory *)memory;
}

static const struct memory_page *find_page(const struct page_memory *pages,
					   taddr_t start)
{
	for (unsigned i = 0; i < pages->count; i++)
		if (pages->list[i].start == start)
			return &pages->list[i];
	return NULL;
}

/* In place of the one that was read first. */
static const struct memory_page *load_page(struct page_memory *pages,
					   taddr_t start)
{
	struct memory_page *page = &pages->list[pages->next];

	page->start = start;
	page->size = memory_read_some(pages->original, start, page->bytes,
				      MEMORY_PAGE);
	pages->next = (pages->next + 1) % MEMORY_PAGES;
	if (pages->count < MEMORY_PAGES)
		pages->count++;
	return page;
}

static size_t read_pages(struct memory *memory, taddr_t address, void *ret,
			 size_t size)
{
	struct page_memory *pages = page_memory_of(memory);
	size_t done = 0;

	while (done < size && address + done >= address) {
		taddr_t start = (address + done) & -(taddr_t)MEMORY_PAGE;
		size_t at = address + done - start;
		const struct memory_page *page = find_page(pages, start);
		size_t n = size - done;

		if (!page)
			page = load_page(pages, start);
		if (at >= page->size)
			break;
		if (n > page->size - at)
			n = page->size - at;
		memcpy((char *)ret + done, page->bytes + at, n);
		done += n;
		if (at + n < MEMORY_PAGE)
			break;
	}
	return done;
}

static int refuse(struct memory *memory UNUSED, taddr_t address UNUSED,
		  const void *bytes UNUSED, size_t size UNUSED)
{
	return -EFAULT;
}

static const struct memory_ops page_ops = { read_pages, refuse };

void page_memory_init(struct page_memory *pages, struct memory *original)
{
	pages->memory.ops = &page_ops;
	pages->original = original;
	pages->count = 0;
	pages->next = 0;
}
