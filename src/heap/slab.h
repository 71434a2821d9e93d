/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SLAB_H
#define CALLTRAP_SLAB_H

#include "heap/site.h"
#include "naming/namer.h"

/*
 * Some allocators acquire large blocks and cut them into small ones. The stack
 * of such a block is that of whoever happened to need the next one, and what
 * keeps it is any of those that lie in it.
 */
struct slab {
	const char *what;   /* … it is */
	const char *inside; /* how to see what lies in it */
};

/*
 * The same of a heap whose collector gives back what isn't used any more, in its
 * own time: that it grows says nothing. Known by its code's symbols alone; where
 * its file isn't there, by what namer was told. That may be NULL.
 */
const struct slab *slab_of_collector(const struct stacks *stacks,
				     struct namer *namer,
				     const struct site *site);

/* Whether it is asked for by somebody whom a language with a collector has called:
   it may be given back together with an object of that language. */
bool slab_owner_is_collected(const struct stacks *stacks, struct namer *namer,
			     const struct site *site);

/* NULL: the blocks of a site are no slabs, as far as is known. */
const struct slab *slab_of(const struct stacks *stacks, struct namer *namer,
			   const struct site *site);

#endif
