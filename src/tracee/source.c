/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/source.h"

#include "base/clock.h"
#include "tracee/tracer.h"

#define for_each_source(tracer, source) \
	for ((source) = (tracer)->sources; (source); (source) = (source)->next)

void source_add(struct tracer *tracer, struct event_source *source)
{
	struct event_source **end = &tracer->sources;

	while (*end)
		end = &(*end)->next;
	*end = source;
}

void sources_task_begin(const struct tracer *tracer, struct task *task)
{
	struct event_source *source;

	for_each_source(tracer, source)
		if (source->ops->task_begin)
			source->ops->task_begin(source, task);
}

void sources_task_end(const struct tracer *tracer, struct task *task)
{
	struct event_source *source;

	for_each_source(tracer, source)
		if (source->ops->task_end)
			source->ops->task_end(source, task);
}

void sources_exec(const struct tracer *tracer, struct task *task)
{
	struct event_source *source;

	for_each_source(tracer, source)
		if (source->ops->exec)
			source->ops->exec(source, task);
}

bool sources_signal(const struct tracer *tracer, struct task *task, int signal)
{
	struct event_source *source;

	for_each_source(tracer, source)
		if (source->ops->signal &&
		    source->ops->signal(source, task, signal))
			return true;
	return false;
}

void sources_leaving(const struct tracer *tracer)
{
	struct event_source *source;

	for_each_source(tracer, source)
		if (source->ops->leaving)
			source->ops->leaving(source);
}

bool sources_keep_traps_out(const struct tracer *tracer, struct space *space,
			    uint64_t now)
{
	struct event_source *source;

	for_each_source(tracer, source)
		if (source->ops->keeps_traps_out &&
		    source->ops->keeps_traps_out(source, space, now))
			return true;
	return false;
}

bool sources_stand(const struct tracer *tracer, struct task *task)
{
	struct event_source *source;

	for_each_source(tracer, source)
		if (source->ops->stands && source->ops->stands(source, task))
			return true;
	return false;
}

bool sources_begin(const struct tracer *tracer, struct task *task)
{
	struct event_source *source;

	for_each_source(tracer, source)
		if (source->ops->begins && source->ops->begins(source, task))
			return true;
	return false;
}

bool sources_trap(const struct tracer *tracer, struct task *task)
{
	struct event_source *source;

	for_each_source(tracer, source)
		if (source->ops->traps && source->ops->traps(source, task))
			return true;
	return false;
}

bool sources_system_call(const struct tracer *tracer, struct task *task,
			 const struct syscall_stop *stop)
{
	struct event_source *source;

	for_each_source(tracer, source)
		if (source->ops->system_call &&
		    source->ops->system_call(source, task, stop))
			return true;
	return false;
}

static void drain(struct tracer *tracer, bool only_due)
{
	struct event_source *source;
	uint64_t now;

	if (tracer->draining || !tracer->sources)
		return;
	tracer->draining = true;
	now = clock_now();
	for_each_source(tracer, source)
		if (source->ops->drain &&
		    (!only_due || (source->due && source->due <= now)))
			source->ops->drain(source, now);
	tracer->draining = false;
}

void sources_drain(struct tracer *tracer)
{
	drain(tracer, false);
}

uint64_t sources_due(const struct tracer *tracer)
{
	const struct event_source *source;
	uint64_t due = 0;

	for_each_source(tracer, source)
		if (source->due && (!due || source->due < due))
			due = source->due;
	return due;
}

void sources_drain_due(struct tracer *tracer)
{
	if (sources_due(tracer))
		drain(tracer, true);
}
