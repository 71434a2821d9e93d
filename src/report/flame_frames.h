/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FLAME_FRAMES_H
#define CALLTRAP_FLAME_FRAMES_H

#include "base/strbuf.h"
#include "report/flame_tree.h"

/* The boxes of a flame graph. flamegraph.js knows these numbers as well. */
#define FLAME_WIDTH  1200
#define FLAME_ROW    17
#define FLAME_HEADER 90
#define FLAME_FOOTER 6

/* Adds a box for each node; unit is what they weigh. */
void flame_frames_add(const struct flame_tree *tree, const char *unit,
		      struct strbuf *out);

#endif
