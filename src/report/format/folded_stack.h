/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FOLDED_STACK_H
#define CALLTRAP_FOLDED_STACK_H

#include "base/strbuf.h"
#include "naming/namer.h"

/*
 * Folded stacks, "root;...;leaf NUMBER", as flamegraph.pl, speedscope and
 * inferno read them. Only the last blank of a line splits, so names keep
 * theirs; a semicolon in a name would split frames, so it becomes a comma.
 */

/* The frames, each with a semicolon behind it. callee: see namer_frames(). */
void folded_stack_add(struct namer *namer, const struct stacks *stacks,
		      stack_id stack, const char *callee, struct strbuf *out);

/* The function that has acquired, a symbol. */
void folded_stack_add_leaf(const char *symbol, struct strbuf *out);

#endif
