/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FLAME_FRAMES_H
#define CALLTRAP_FLAME_FRAMES_H

#include "report/flame/svg.h"

/* The boxes of a flame graph. flamegraph.js knows these numbers as well. */
#define FLAME_WIDTH  1200
#define FLAME_ROW    17
#define FLAME_HEADER 90
#define FLAME_FOOTER 6

/* Adds a box for each node. */
void flame_frames_add(const struct flame_picture *picture, struct strbuf *out);

#endif
