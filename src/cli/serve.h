/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SERVE_H
#define CALLTRAP_SERVE_H

#include "base/types.h"

struct heap_verb;
struct options;
struct serve;

/* --http and --push: what is watched, for others, while it is watched. */

/* Whether the options can be done at all; what is wrong has been told. */
int serve_check(const struct options *options) MUST_CHECK;

/* NULL: nothing of it was asked for. What goes wrong has been told. */
int serve_new(struct heap_verb *verb, struct serve **ret) MUST_CHECK;
void serve_free(struct serve *serve);

/* Begins what has been asked for. Monotonic time; returns when to call it
   again. */
uint64_t serve_look(struct serve *serve, uint64_t now) MUST_CHECK;

#endif
