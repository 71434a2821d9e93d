/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FLAME_DIFFERENCE_H
#define CALLTRAP_FLAME_DIFFERENCE_H

#include "base/strbuf.h"
#include "report/flame/tree.h"

/* What a flame graph of differences says of a node that has two weights. */

/* "before 1,234 bytes, now 2,000: +766, +62.07%" */
void flame_difference_add_text(const struct flame_node *node, const char *unit,
			       struct strbuf *out);

/* "; parts grew by 900, others shrank by 134", if there was both. */
void flame_difference_add_parts(const struct flame_node *node,
				struct strbuf *out);

/* "NEW", "GONE", "GROWN", "SHRUNK"; "grown and shrunk" if parts of it are the
   one and others the other; or "as before". */
const char *flame_difference_kind(const struct flame_node *node);

/* What stands before its name: '+' for NEW, '-' for GONE, else '\0'. */
char flame_difference_mark(const struct flame_node *node);

/* The box: what is as before, what is more, what is gone, side by side. */
void flame_difference_add_bars(const struct flame_node *node,
			       struct strbuf *out);

#endif
