/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/ruby_links.h"

/* A page, and in its structure where the first slot is: gc.c of Ruby 3.1. */
#define PAGE_SIZE      16384
#define PAGE_STRUCTURE 64
#define FIRST_SLOT     32

/*
 * What is as large, and no object's, is mostly the interpreter's own, and keeps
 * nothing: what waits to be marked, has been young, or is a text that others have,
 * too; entries that were dropped stay there, and lead to who came after. Stacks of
 * the interpreter's, where methods have their variables, are known.
 */
#define LARGE 4000

static bool is_doubtful_block(const struct block *block)
{
	return !block->object && !block->part && block_usable(block) >= LARGE;
}

/* What has moved from where young objects keep things stays there. */
static bool is_doubtful_root(const struct ruby_links *links, taddr_t where)
{
	const struct mapping *mapping = mappings_find(links->mappings, where);

	return !mapping || mapping->kind == MAPPING_STACK ||
	       mapping->kind == MAPPING_ANONYMOUS;
}

static bool read_word(const struct ruby_links *links, taddr_t address,
		      taddr_t *ret)
{
	return !memory_read(links->memory, address, ret, sizeof(*ret));
}

/* Of a page that it lies in; its structure knows it, too. */
static bool is_slot(const struct ruby_links *links, uint64_t pointer,
		    taddr_t *structure_ret)
{
	const taddr_t page = pointer & -(taddr_t)PAGE_SIZE;
	taddr_t first;

	return read_word(links, page, structure_ret) &&
	       read_word(links, *structure_ret + FIRST_SLOT, &first) &&
	       (first & -(taddr_t)PAGE_SIZE) == page;
}

void ruby_links_init(struct ruby_links *links, struct memory *memory,
		     const struct mappings *mappings,
		     const struct blocks *blocks)
{
	*links = (struct ruby_links){ .memory = memory,
				      .mappings = mappings,
				      .blocks = blocks };
	ruby_stacks_find(memory, mappings, blocks, &links->stacks);
}

void ruby_links_fini(struct ruby_links *links)
{
	ruby_stacks_fini(&links->stacks);
}

bool ruby_links_pass_over(const struct ruby_links *links, uint64_t pointer,
			  taddr_t where)
{
	const struct ruby_stack *stack =
		ruby_stacks_around(&links->stacks, where);
	const struct block *from;
	taddr_t structure;

	if (stack)
		return !ruby_stack_uses(stack, where);
	from = blocks_around(links->blocks, where);
	if (!from && is_doubtful_root(links, where))
		return true;
	return is_slot(links, pointer, &structure) &&
	       (where - structure < PAGE_STRUCTURE ||
		(from && is_doubtful_block(from)));
}
