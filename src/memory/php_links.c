/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/php_links.h"

#include <string.h>

#include "memory/php_objects.h"

/* What all that is counted begins with, and where in an object its number is:
   Zend/zend_types.h of PHP 8.2. */
struct php_counted {
	uint32_t references, info, handle, unused;
};

/* Zend/zend_gc.c: where in its buffer somebody is that may be in a ring. */
#define PLACE_SHIFT 10
#define PLACE_MASK  0x7ffff

/* … and so large, or that so many times, is it; and a page, as mappings are. */
#define BUFFER_LEAST (16u * 1024 * 8)
#define PAGE         4096

/* Zend/zend_execute.h: variables of functions, those that have returned, too. */
struct php_stack {
	taddr_t top, end, previous;
};

#define STACK_LEAST (128u << 10)
#define STACK_MOST  (1u << 30)

/* Among the executor's globals: Zend/zend_globals.h. */
struct php_stack_in_use {
	taddr_t top, end, stack;
};

static bool is_doubtful_root(const struct php_links *links, taddr_t where)
{
	const struct mapping *mapping = mappings_find(links->mappings, where);

	return !mapping || mapping->kind == MAPPING_STACK;
}

static bool is_in_use(struct memory *memory, const struct php_stack_in_use *use)
{
	struct php_stack stack;

	return use->end - use->stack >= STACK_LEAST &&
	       use->end - use->stack <= STACK_MOST &&
	       use->top - use->stack <= use->end - use->stack &&
	       !memory_read(memory, use->stack, &stack, sizeof(stack)) &&
	       stack.end == use->end;
}

/* They may reach into the next run. */
static bool read_use(struct memory *memory, const struct picture_part *part,
		     taddr_t at, struct php_stack_in_use *ret)
{
	if (part->end - at < sizeof(*ret))
		return !memory_read(memory, at, ret, sizeof(*ret));
	memcpy(ret, part->bytes + (at - part->start), sizeof(*ret));
	return true;
}

static bool find_in_run(struct php_links *links,
			const struct picture_part *part)
{
	struct php_stack_in_use use;

	for (taddr_t at = part->start; at < part->end; at += sizeof(taddr_t)) {
		if (!read_use(links->memory, part, at, &use) ||
		    !is_in_use(links->memory, &use))
			continue;
		links->stack = use.stack;
		links->top = use.top;
		return true;
	}
	return false;
}

/* Only what is there: a mapping may be larger than all memory. */
static bool find_stack(struct php_links *links, const struct picture *picture,
		       const struct mapping *mapping)
{
	taddr_t at = mapping->start;
	struct picture_part part;
	size_t hint = 0;

	while (picture_next(picture, &hint, at, mapping->end, &part)) {
		if (find_in_run(links, &part))
			return true;
		at = part.end;
	}
	return false;
}

void php_links_init(struct php_links *links, const struct picture *picture,
		    const struct mappings *mappings, const struct glibc *glibc)
{
	/* It only reads. */
	struct memory *memory = (struct memory *)&picture->memory;

	*links = (struct php_links){ memory, mappings, glibc, 0, 0 };
	for (size_t i = 0; i < mappings->count; i++)
		if ((mappings->list[i].kind == MAPPING_PROGRAM_DATA ||
		     mappings->list[i].kind == MAPPING_LIBRARY_DATA) &&
		    find_stack(links, picture, &mappings->list[i]))
			break;
}

/* 0: it is none. What is behind that functions have left. */
static taddr_t top_of_stack(const struct php_links *links,
			    const struct block *block)
{
	const uint64_t usable = block_usable(block);
	struct php_stack stack;

	if (block->address == links->stack)
		return links->top;
	return usable >= STACK_LEAST &&
			       !memory_read(links->memory, block->address,
					    &stack, sizeof(stack)) &&
			       stack.end == block->address + usable &&
			       stack.top - block->address <= usable ?
		       stack.top :
		       0;
}

/* Behind a text is what was there before. An object may begin with a pointer that
   has a text's type in it. */
static bool is_text(const struct php_links *links, const struct block *block)
{
	const uint64_t usable = block_usable(block);
	struct php_string head;
	char end = 1;

	return block->object && usable > sizeof(head) &&
	       !memory_read(links->memory, block->address, &head,
			    sizeof(head)) &&
	       php_is_text(&head) && head.length < usable - sizeof(head) &&
	       !memory_read(links->memory,
			    block->address + sizeof(head) + head.length, &end,
			    sizeof(end)) &&
	       !end;
}

static bool is_of_pool(const struct glibc *glibc, taddr_t address)
{
	size_t low = 0, high = glibc->part_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (glibc->parts[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < glibc->part_count && glibc->parts[low].objects &&
	       glibc->parts[low].start <= address;
}

/* What has left the list of what may be in a ring isn't always wiped there. It is
   malloc's; of PHP's own pools elements of one of SPL's lists may be as large. */
static bool is_buffer(const struct glibc *glibc, const struct block *block)
{
	const uint64_t usable = block_usable(block);

	return !block->part && !block->object && usable >= BUFFER_LEAST &&
	       usable % BUFFER_LEAST < PAGE &&
	       !is_of_pool(glibc, block->address);
}

/* A list has all objects by their numbers; another one what may be in a ring, by
   a place that this knows. */
static bool is_on_list(const struct php_links *links, const struct block *from,
		       uint64_t pointer, taddr_t where)
{
	const uint64_t place = (where - from->address) / sizeof(taddr_t);
	struct php_counted counted;

	return place && !from->part && !from->object &&
	       !memory_read(links->memory, pointer, &counted,
			    sizeof(counted)) &&
	       (place == counted.handle ||
		(counted.info >> PLACE_SHIFT & PLACE_MASK) ==
			(place & PLACE_MASK));
}

/* Another one has all that is larger than a chunk. */
static bool is_entry(const struct php_links *links, const struct block *from,
		     uint64_t pointer, taddr_t where)
{
	const struct block *to = blocks_at(&links->glibc->blocks, pointer);
	struct php_entry entry;

	return to && where == from->address && !from->object &&
	       block_usable(from) == sizeof(entry) &&
	       !memory_read(links->memory, where, &entry, sizeof(entry)) &&
	       entry.block == to->address && entry.bytes == block_usable(to);
}

bool php_links_pass_over(const struct php_links *links, uint64_t pointer,
			 taddr_t where)
{
	const struct block *from = blocks_around(&links->glibc->blocks, where);
	taddr_t top;

	if (!from)
		return is_doubtful_root(links, where);
	top = top_of_stack(links, from);
	if (top)
		return where >= top;
	return is_text(links, from) || is_buffer(links->glibc, from) ||
	       is_on_list(links, from, pointer, where) ||
	       is_entry(links, from, pointer, where);
}
