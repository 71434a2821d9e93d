/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HELD_FLAME_H
#define CALLTRAP_HELD_FLAME_H

#include "base/strbuf.h"
#include "memory/held.h"

/* What is held by whom alone, as folded stacks, and as a flame graph of them;
   wall: when that was. */
void held_fold(const struct held_tree *tree, struct strbuf *out);
void held_draw(const struct leaks *leaks, const struct held_tree *tree,
	       uint64_t wall, struct strbuf *out);

#endif
