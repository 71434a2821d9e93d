/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CHILDREN_H
#define CALLTRAP_CHILDREN_H

#include "tracee/tracer.h"

/*
 * Threads and processes that tracees make. The kernel attaches them by
 * itself; their first stop and their parent's event come in any order.
 */

/*
 * A fork, vfork or clone event of a tracee's task. Returns the new task, which
 * may be waiting for this in its first stop; NULL when the parent is gone.
 */
struct task *child_announced(struct tracer *tracer, struct task *parent,
			     enum stop_kind kind);

/*
 * The first stop of a task. Returns false when it isn't known yet whose it
 * is; it then waits for its parent's event.
 */
bool child_first_stop(struct tracer *tracer, struct task *task);

/*
 * A child that is still held since its first stop, whose parent will not tell
 * of it any more: cleaned, and to be let run. NULL when there is none. ending
 * is the process that is about to be forgotten, or NULL: all held ones.
 */
struct task *child_adopt_orphan(struct tracer *tracer,
				const struct tracee *ending);

/* The vfork child has an address space of its own, or has ended. */
void child_released_parent(struct task *parent);

/* A tracee has begun a new program. */
void child_executed(struct tracer *tracer, struct task *task);

#endif
