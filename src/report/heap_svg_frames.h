/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_SVG_FRAMES_H
#define CALLTRAP_HEAP_SVG_FRAMES_H

#include "report/heap_tree.h"

/* The boxes of a flame graph. flamegraph.js knows these numbers as well. */
#define SVG_WIDTH  1200
#define SVG_ROW    17
#define SVG_HEADER 90
#define SVG_FOOTER 6

/* Adds a box for each node; unit is what they weigh. */
void heap_svg_add_frames(const struct heap_tree *tree, const char *unit,
			 struct strbuf *out);

#endif
