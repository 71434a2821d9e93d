/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CLI_HEAP_LOOK_H
#define CALLTRAP_CLI_HEAP_LOOK_H

#include "heap/watch.h"

/*
 * Looks at the memory of a process that runs: where its blocks are, and (typed)
 * which objects of interpreters they are, or belong to, or why that would take
 * too long; and the first bytes (data) of each. Nothing is stopped, but who comes to a trap waits. The heap has the
 * answer then.
 */
void heap_look_at(const struct watched *process, bool typed, size_t data);

#endif
