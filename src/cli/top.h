/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_TOP_H
#define CALLTRAP_TOP_H

#include "base/types.h"

struct heap_verb;
struct top;

/* The verb top: a heap that is looked at while it is watched. What goes wrong
   has been told. */
int top_new(struct heap_verb *verb, struct top **ret) MUST_CHECK;
void top_free(struct top *top);

/* calltrap is about to die: the terminal becomes what it was. */
void top_abandon(struct top *top);

/* Does what the screen asks for, and gives it what there is to be seen.
   Monotonic time; returns when to call it again. */
uint64_t top_look(struct top *top, uint64_t now) MUST_CHECK;

#endif
