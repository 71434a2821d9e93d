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
 * A child that is held since its first stop, and whose parent was killed
 * before its event could be read: told by the int3s in its memory from whom it
 * was forked, cleaned, and to be let run. NULL when there is none.
 */
struct task *child_adopt_orphan(struct tracer *tracer);

/*
 * A process was killed: it may have children that nobody will tell of, and
 * whose copies of its traps only its space knows. A few are kept, until nobody
 * is traced any more: with their spaces ends what is to be told of them.
 */
void child_keep_space(struct tracer *tracer, struct space *space);
void child_drop_spaces(struct tracer *tracer);

/* Whether any child is held. */
bool child_is_held(const struct tracer *tracer);

/* The vfork child has an address space of its own, or has ended. */
void child_released_parent(struct task *parent);

/* A tracee has begun a new program. */
void child_executed(struct tracer *tracer, struct task *task);

#endif
