/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HELD_BRANCHES_H
#define CALLTRAP_HELD_BRANCHES_H

#include "memory/held.h"

/* What is below what, those that hold most first. */
struct held_branches {
	size_t *list;  /* indices, in a row for each node, from … */
	size_t *first; /* … this one on; one more ends the last */
};

void held_branches_make(const struct held_tree *tree,
			struct held_branches *ret);
void held_branches_fini(struct held_branches *branches);

#endif
