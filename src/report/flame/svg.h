/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FLAME_SVG_H
#define CALLTRAP_FLAME_SVG_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/strbuf.h"
#include "report/flame/tree.h"

/*
 * A flame graph: one file that needs nothing else. It is a picture that can be
 * read as it is; its script makes it larger, searches, and so on. No text of
 * the traced program gets into the script or the style.
 */

/* A browser becomes slow with more boxes. */
#define FLAME_NODES_MAX 20000

struct flame_picture {
	const struct flame_tree *tree;
	const char *unit;    /* what nodes weigh: "bytes" */
	const char *heading; /* markup, as flame_svg_add_heading() makes it */
	const char *note;    /* plain, behind the total; or NULL */
	bool difference;     /* nodes weigh something before, and now */
};

/*
 * "TITLE Flame Graph: PROGRAM (pid N), DATE TIME"; where people know it by
 * another name than its file's, that: "NAME (PROGRAM, pid N)".
 */
void flame_svg_add_heading(const char *title, const char *program,
			   const char *name, pid_t pid, uint64_t wall,
			   struct strbuf *out);

void flame_svg_add(const struct flame_picture *picture, struct strbuf *out);

#endif
