/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/engine.h"

#include <errno.h>

#include "base/diag.h"
#include "probe/private.h"

struct space *engine_space(const struct probe_space *space)
{
	return space->space;
}

void engines_init(struct prober *prober)
{
	struct engine **end = &prober->engines;

	prober->traps.ops = &trap_engine_ops;
	prober->engines = prober->config.engines;
	while (*end)
		end = &(*end)->next;
	*end = &prober->traps;
}

struct point *points_at(const struct probe_space *space, taddr_t address)
{
	struct point *point;

	HASH_FIND(hh, space->points, &address, sizeof(address), point);
	return point;
}

static void link_point(struct point *point)
{
	struct probe_space *space = point->space;
	struct point *older = points_at(space, point->address);

	if (older)
		HASH_DEL(space->points, older);
	point->same_address = older;
	HASH_ADD(hh, space->points, address, sizeof(point->address), point);
}

static void unlink_point(struct point *point)
{
	struct probe_space *space = point->space;
	struct point *newest = points_at(space, point->address), *older;

	if (newest != point) {
		while (newest->same_address != point)
			newest = newest->same_address;
		newest->same_address = point->same_address;
		return;
	}
	HASH_DEL(space->points, point);
	older = point->same_address;
	if (older)
		HASH_ADD(hh, space->points, address, sizeof(older->address),
			 older);
}

int point_plant(struct point *point, unsigned needs)
{
	struct engine *engine = point->space->prober->engines;
	int err = -ENOTSUP;

	for (; engine; engine = engine->next) {
		if (needs & ~engine->ops->promises)
			continue;
		err = engine->ops->plant(engine, point);
		if (err)
			continue;
		point->engine = engine;
		link_point(point);
		return 0;
	}
	return err;
}

void point_unplant(struct point *point, bool gone)
{
	struct engine *engine = point->engine;

	if (!engine)
		return;
	unlink_point(point);
	engine->ops->unplant(engine, point, gone);
	point->engine = NULL;
}

struct return_watch *engine_watch_return(struct engine *engine,
					 struct probe_space *space,
					 const struct call *call)
{
	struct return_watch *watch = NULL;

	for (; engine && !watch; engine = engine->next)
		if (engine->ops->promises & ENGINE_RETURN)
			watch = engine->ops->watch_return(engine, space, call);
	return watch;
}

void engines_forget_range(struct probe_space *space, taddr_t low, taddr_t high)
{
	struct engine *engine = space->prober->engines;

	for (; engine; engine = engine->next)
		engine->ops->forget_range(engine, space, low, high);
}

void engines_forget_frames(const struct moment *moment, taddr_t limit)
{
	struct engine *engine = moment->space->prober->engines;

	for (; engine; engine = engine->next)
		if (engine->ops->forget_frames)
			engine->ops->forget_frames(engine, moment, limit);
}

bool engines_are_on_the_way(const struct engine *engine)
{
	for (; engine; engine = engine->next)
		if (engine->ops->is_on_the_way &&
		    engine->ops->is_on_the_way(engine))
			return true;
	return false;
}

void engines_close(struct probe_space *space)
{
	struct engine *engine = space->prober->engines;

	for (; engine; engine = engine->next)
		if (engine->ops->close)
			engine->ops->close(engine, space);
}

bool engines_are_awaited(const struct engine *engine)
{
	for (; engine; engine = engine->next)
		if (engine->ops->is_awaited && engine->ops->is_awaited(engine))
			return true;
	return false;
}

void engines_leave(struct probe_space *space)
{
	struct engine *engine = space->prober->engines;

	for (; engine; engine = engine->next)
		if (engine->ops->leave)
			engine->ops->leave(engine, space);
}

void engines_end(struct probe_space *space)
{
	struct engine *engine = space->prober->engines;

	for (; engine; engine = engine->next)
		if (engine->ops->end)
			engine->ops->end(engine, space);
}

void engines_forked(struct probe_space *parent, struct probe_space *child)
{
	struct engine *engine = parent->prober->engines;

	for (; engine; engine = engine->next)
		if (engine->ops->forked)
			engine->ops->forked(engine, parent, child);
}

void engines_prepare(struct probe_space *space)
{
	struct engine *engine = space->prober->engines;

	for (; engine; engine = engine->next)
		if (engine->ops->prepare)
			engine->ops->prepare(engine, space);
}

void engines_catch_up(struct prober *prober, uint64_t time, pid_t tid)
{
	struct engine *engine = prober->engines;

	if (time && time == prober->caught_up.time &&
	    tid == prober->caught_up.tid)
		return;
	for (; engine; engine = engine->next)
		if (engine->ops->catch_up)
			engine->ops->catch_up(engine, time, tid);
	/* What was told meanwhile is of other times, and has been here. */
	prober->caught_up.time = time;
	prober->caught_up.tid = tid;
}

bool engines_have_code(struct probe_space *space, taddr_t address)
{
	struct engine *engine = space->prober->engines;

	for (; engine; engine = engine->next)
		if (engine->ops->is_own_code &&
		    engine->ops->is_own_code(engine, space, address))
			return true;
	return false;
}

bool engines_passed_over(const struct moment *moment, unsigned group)
{
	struct engine *engine = moment->space->prober->engines;

	if (!group || moment->past)
		return false;
	for (; engine; engine = engine->next)
		if (engine->ops->passed_over &&
		    engine->ops->passed_over(engine, moment) == group)
			return true;
	return false;
}
