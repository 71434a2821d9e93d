/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_UNBORN_H
#define CALLTRAP_UNBORN_H

#include <stdbool.h>

#include "base/types.h"

struct space;

/*
 * Waits until none of the tasks of a space can be making a child that won't be
 * traced, as it was begun before its parent was seized. No trap may be written
 * sooner: the child may still get it with its copy of the memory, or it shares
 * the memory. Tasks that rest in other system calls are left alone; those that
 * run, or make a child, are stopped, and go on at once. Statuses of all other
 * stops are left where they are. Who is frozen isn't waited for, nor anybody
 * for longer than to the deadline (monotonic).
 *
 * Returns whether any of the tasks hadn't been waited for before. Then there
 * may be new ones, which aren't ours.
 */
bool unborn_await(struct space *space, uint64_t deadline);

#endif
