/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GLIBC_PRIVATE_H
#define CALLTRAP_GLIBC_PRIVATE_H

#include "memory/glibc.h"
#include "memory/glibc_layout.h"
#include "memory/window.h"

/* Finds arenas, and what glibc counts itself, in the data of modules. */
void glibc_find_arenas(struct memory *memory, const struct mappings *mappings,
		       struct glibc *glibc);

/* The parts of one arena, in any order; false when they make no sense. */
bool glibc_find_parts(struct memory *memory, const struct mappings *mappings,
		      struct glibc *glibc, size_t arena);

/* Blocks that have a mapping of their own, as parts of one block each. */
void glibc_find_maps(struct window *window, const struct mappings *mappings,
		     struct glibc *glibc);

/* Goes through the chunks of a part, and adds its blocks. */
void glibc_walk(struct window *window, struct glibc *glibc,
		struct glibc_part *part);

/* Which of the blocks are free although they look used. */
void glibc_mark_lists(struct window *window, struct glibc *glibc);

void glibc_add_part(struct glibc *glibc, const struct glibc_part *part);

#endif
