/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_RUBY_LINKS_H
#define CALLTRAP_RUBY_LINKS_H

#include "base/memory.h"
#include "memory/blocks.h"
#include "memory/mappings.h"
#include "memory/ruby_stacks.h"

/* Which words lead to objects of Ruby's and don't hold them. */
struct ruby_links {
	struct memory *memory;
	const struct mappings *mappings;
	const struct blocks *blocks; /* objects among them */
	struct ruby_stacks stacks;
};

void ruby_links_init(struct ruby_links *links, struct memory *memory,
		     const struct mappings *mappings,
		     const struct blocks *blocks);
void ruby_links_fini(struct ruby_links *links);

bool ruby_links_pass_over(const struct ruby_links *links, uint64_t pointer,
			  taddr_t where);

#endif
