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

/*
 * Which words lead to objects and don't hold them: links of these lists, and weak
 * references. The rule is good as long as these live.
 */
struct python_links;

struct python_links *python_links_new(const struct picture *picture,
				      const struct mappings *mappings);
void python_links_free(struct python_links *links);
const struct reach_rule *python_links_rule(const struct python_links *links);

#endif
