/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_REACH_H
#define CALLTRAP_HEAP_REACH_H

#include "heap/watch.h"

/*
 * Looks through the memory of a process that has been let go of, which runs on
 * meanwhile if it can be copied: what of its heap can it still reach? The heap
 * has the answer then, or why there is none.
 */
void heap_reach_look(const struct watched *process);

#endif
