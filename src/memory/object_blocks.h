/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_OBJECT_BLOCKS_H
#define CALLTRAP_OBJECT_BLOCKS_H

#include "memory/glibc.h"

/*
 * Interpreters share out most of their memory themselves: then all that malloc
 * knows are pools. What is in use there becomes blocks among those of malloc, and
 * blocks of both that are objects, or what these keep apart, are marked. False:
 * there is no interpreter that is known, and nothing has changed.
 */
bool object_blocks_add(struct memory *memory, const struct mappings *mappings,
		       struct glibc *glibc);

#endif
