/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_RUBY_LINKS_H
#define CALLTRAP_RUBY_LINKS_H

#include "base/memory.h"
#include "memory/blocks.h"
#include "memory/mappings.h"

/* Which words lead to objects of Ruby's and don't hold them. */
struct ruby_links {
	struct memory *memory;
	const struct mappings *mappings;
	const struct blocks *blocks; /* objects among them */
};

bool ruby_links_pass_over(const struct ruby_links *links, uint64_t pointer,
			  taddr_t where);

#endif
