/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_OBJECT_LINKS_H
#define CALLTRAP_OBJECT_LINKS_H

#include "memory/reach.h"

/*
 * Which words lead to objects of interpreters and don't hold them, or may have been
 * left behind: they are followed last. Good as long as all that is given lives.
 */
struct object_links;

struct object_links *object_links_new(const struct picture *picture,
				      const struct mappings *mappings,
				      const struct glibc *glibc);
void object_links_free(struct object_links *links);
const struct reach_rule *object_links_rule(const struct object_links *links);

#endif
