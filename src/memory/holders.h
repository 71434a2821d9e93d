/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HOLDERS_H
#define CALLTRAP_HOLDERS_H

#include "memory/block_names.h"
#include "memory/owners.h"

/*
 * Who holds a block: the way from a root to it, through the fewest blocks.
 * One link of such a chain is where the pointer to the next one lies.
 */
struct holder_link {
	taddr_t block;   /* that it lies in; 0: in a root */
	uint64_t offset; /* … and where in there */
	taddr_t where;   /* 0: in a register */
	char *name;      /* "g_cache (shop .bss+0x20)", "Session"; to be
			    freed */
	bool nameless;   /* … is its size, as nothing else is known */
	char *members;   /* what leads to that pointer in it: ".name"; to be
			    freed; NULL: not known, or in the name */
};

struct holder_chain {
	struct holder_link *links; /* the root comes first, the block last */
	size_t count;
	uint64_t blocks, bytes; /* that are held in the same way: by the same
				      root, through blocks of the same classes */
	enum reach kind;
};

struct holders {
	struct holder_chain *chains; /* those that hold most come first */
	size_t count;
	uint64_t blocks, bytes; /* that were asked for */
	struct page_sums pages; /* leaks_pages_known(): … of these */
	char *owner;        /* the variable through which alone most of these
			       bytes are reached (owners.h), … */
	uint64_t own_bytes; /* … and how many; NULL: there is none */
	bool curtailed;     /* names are missing (block_names.h) */
};

/*
 * Whose: an address ("0x55e0c0ffee00"), a class of objects, or else a type that
 * blocks are declared with. leaks has to know the ways (leaks_find()'s ways).
 * -ENOENT when there is no such block.
 */
int holders_find(const struct leaks *leaks, struct block_names *names,
		 const struct owners *owners, const char *whose,
		 struct holders *ret) MUST_CHECK;
void holders_fini(struct holders *holders);

#endif
