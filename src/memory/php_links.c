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

/* Looked through at once. */
#define WORDS 512

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

static bool find_stack(struct php_links *links, const struct mapping *mapping)
{
	uint64_t words[WORDS + 2];
	struct php_stack_in_use use;

	for (taddr_t at = mapping->start; at + sizeof(words) <= mapping->end;
	     at += WORDS * sizeof(words[0])) {
		if (memory_read(links->memory, at, words, sizeof(words)))
			continue;
		for (size_t i = 0; i < WORDS; i++) {
			memcpy(&use, words + i, sizeof(use));
			if (!is_in_use(links->memory, &use))
				continue;
			links->stack = use.stack;
			links->top = use.top;
			return true;
		}
	}
	return false;
}

void php_links_init(struct php_links *links, struct memory *memory,
		    const struct mappings *mappings,
		    const struct blocks *blocks)
{
	*links = (struct php_links){ memory, mappings, blocks, 0, 0 };
	for (size_t i = 0; i < mappings->count; i++)
		if ((mappings->list[i].kind == MAPPING_PROGRAM_DATA ||
		     mappings->list[i].kind == MAPPING_LIBRARY_DATA) &&
		    find_stack(links, &mappings->list[i]))
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

/* Behind a text is what was there before. */
static bool is_text(const struct php_links *links, const struct block *block)
{
	struct php_string head;

	return block->object &&
	       !memory_read(links->memory, block->address, &head,
			    sizeof(head)) &&
	       php_is_text(&head);
}

/* What has left the list of what may be in a ring isn't always wiped there. */
static bool is_buffer(const struct block *block)
{
	const uint64_t usable = block_usable(block);

	return !block->part && !block->object && usable >= BUFFER_LEAST &&
	       usable % BUFFER_LEAST < PAGE;
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

bool php_links_pass_over(const struct php_links *links, uint64_t pointer,
			 taddr_t where)
{
	const struct block *from = blocks_around(links->blocks, where);
	taddr_t top;

	if (!from)
		return is_doubtful_root(links, where);
	top = top_of_stack(links, from);
	if (top)
		return where >= top;
	return is_text(links, from) || is_buffer(from) ||
	       is_on_list(links, from, pointer, where);
}
