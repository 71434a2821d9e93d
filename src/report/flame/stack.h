/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FLAME_STACK_H
#define CALLTRAP_FLAME_STACK_H

#include "naming/namer.h"
#include "report/flame/tree.h"
#include "stack/stacks.h"

/* Adds the frames of a stack to a path, inlined ones too. callee: see
   namer_frames(). */
void flame_stack_add(struct flame_path *path, struct namer *namer,
		     const struct stacks *stacks, stack_id stack,
		     const char *callee);

#endif
