/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HELD_TEXT_H
#define CALLTRAP_HELD_TEXT_H

#include <jansson.h>

#include "base/strbuf.h"
#include "memory/held.h"

/* The tree, its largest branches first. top: so many of each; 0: all. */
void held_text(const struct leaks *leaks, const struct held_tree *tree,
	       unsigned top, struct strbuf *out);

json_t *held_json(const struct leaks *leaks, const struct held_tree *tree);

#endif
