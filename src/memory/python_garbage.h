/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PYTHON_GARBAGE_H
#define CALLTRAP_PYTHON_GARBAGE_H

#include "memory/reach.h"

/*
 * CPython has all objects that may be part of a ring on lists. So whatever the
 * program has dropped can be got at, until its collector of rings comes by:
 * blocks that only these lists lead to are marked as .listed, and what it keeps
 * for new objects; but not what that collector won't give back. Does nothing to
 * other programs, and leaves .mark as it was, 0.
 */
void python_garbage_find(const struct picture *picture,
			 const struct mappings *mappings,
			 const struct freeze *frozen, struct glibc *glibc);

#endif
