/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_MALLOCNG_H
#define CALLTRAP_MALLOCNG_H

#include "memory/glibc.h"

/*
 * The same of musl's malloc (1.2.1 and later), which is known by a secret that
 * all areas of its own repeat. There is one arena; its parts are groups of slots
 * of one size, and what it got from libraries' data. Free slots are no blocks,
 * but counted. -ENOENT when there is no such allocator.
 */
int mallocng_read(struct memory *memory, const struct mappings *mappings,
		  struct glibc *ret) MUST_CHECK;

#endif
