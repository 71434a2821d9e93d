/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_COPYING_H
#define CALLTRAP_DEBUGINFO_COPYING_H

#include "dwarf/die.h"

/*
 * Whether objects of a class are passed by address: those that can't be copied
 * bit by bit are (Itanium C++ ABI, "non-trivial for the purposes of calls").
 * Starts as zeros, and is told of each child of the class.
 */
struct copying {
	bool forbidden;
	bool deleted; /* some way to copy is … */
	bool kept;    /* … and some is the compiler's own */
};

void copying_add(struct copying *copying, const struct die *class,
		 const struct die *child);

/* In the end; of members and bases that are objects nothing is known here. */
bool copying_is_by_address(const struct copying *copying,
			   const struct die *class);

#endif
