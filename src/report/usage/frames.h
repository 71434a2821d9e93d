/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_USAGE_FRAMES_H
#define CALLTRAP_USAGE_FRAMES_H

#include "base/strbuf.h"
#include "memory/leaks.h"
#include "report/flame/svg.h"

/* Names of variables and blocks as frames: of folded stacks, of flame graphs. */
void frames_fold(const char *name, struct strbuf *out);
void frames_add(struct flame_path *path, const char *name);

/* The picture of a tree of them, which is freed. wall: when the process was looked
   at, in ns since 1970. */
void frames_draw(struct flame_tree *tree, const char *title,
		 const struct leaks *leaks, uint64_t wall, struct strbuf *out);

#endif
