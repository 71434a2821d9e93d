/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FLAME_HUES_H
#define CALLTRAP_FLAME_HUES_H

#include "report/flame/tree.h"

/* The colours of a flame graph of memory: a library has a hue, a function a
   shade of it. */

struct flame_colour {
	int red, green, blue;
};

struct flame_colour flame_colour(const char *library, const char *function);

/* A library, and how much of the picture is in its hue. */
struct flame_hue {
	const char *library;
	double area;
};

#define FLAME_HUES_MAX 4

/* Those of the largest parts of the picture, the largest first. */
size_t flame_hues(const struct flame_tree *tree,
		  struct flame_hue ret[FLAME_HUES_MAX]);

#endif
