/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/xalloc.h"
#include "probe/private.h"
#include "tracee/passing.h"

/* The engine that stops threads: int3s, which tracee/ plants and passes. */

struct trapped_point {
	struct trap_owner owner;
	struct point *point;
};

static void on_hit(struct trap_owner *owner, struct task *task)
{
	struct moment moment = moment_of_stop(task);
	struct point *point = ((struct trapped_point *)owner)->point;

	if (task->tracee->space->tracer->gathering)
		return;
	clocked_begin_some(&moment, point->address);
	point->ops->reached(point, &moment);
}

static const struct trap_owner_ops owner_ops = { .hit = on_hit };

static int plant(struct engine *engine UNUSED, struct point *point)
{
	struct trapped_point *trapped = xcalloc(1, sizeof(*trapped));
	int err;

	trapped->owner.ops = &owner_ops;
	trapped->point = point;
	err = trap_plant(point->space->space, point->address, &trapped->owner);
	if (err)
		free(trapped);
	else
		point->data = trapped;
	return err;
}

static void unplant(struct engine *engine UNUSED, struct point *point,
		    bool gone)
{
	struct trapped_point *trapped = point->data;

	if (!gone)
		trap_unplant(point->space->space, point->address,
			     &trapped->owner);
	free(trapped);
}

/* A task that a signal has taken out of them won't hit their traps again. */
static void forget_frames(struct engine *engine UNUSED,
			  const struct moment *moment, taddr_t limit)
{
	struct task *task =
		task_find(moment->space->space->tracer, moment->tid);

	if (task)
		task_forget_visits(task, limit);
}

const struct engine_ops trap_engine_ops = {
	.name = "trap",
	.promises = ENGINE_ENTRY | ENGINE_ANY | ENGINE_RETURN | ENGINE_MEMORY,
	.plant = plant,
	.unplant = unplant,
	.watch_return = return_site_watch,
	.unwatch_return = return_site_unwatch,
	.forget_range = return_sites_forget_range,
	.forget_frames = forget_frames,
};
