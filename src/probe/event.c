/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/event.h"

/* One sink's failure must not keep the others from what they are due. */
static int first_error(int err, int next)
{
	return err ? err : next;
}

int sinks_event(struct sink *first, const struct event *event)
{
	struct sink *sink;
	int err = 0;

	for (sink = first; sink; sink = sink->next)
		err = first_error(err, sink->ops->event(sink, event));
	return err;
}

int sinks_wholes(struct sink *first, const struct whole_call *calls,
		 size_t count)
{
	struct sink *sink;
	int err = 0;

	for (sink = first; sink; sink = sink->next)
		err = first_error(err, sink->ops->wholes(sink, calls, count));
	return err;
}

void sinks_expect(struct sink *first, const struct function *function,
		  pid_t pid, const uint64_t arguments[WHOLE_ARGUMENTS])
{
	for (; first; first = first->next)
		if (first->ops->expect)
			first->ops->expect(first, function, pid, arguments);
}

bool sinks_take_wholes(const struct sink *first)
{
	for (; first; first = first->next)
		if (!first->ops->wholes)
			return false;
	return true;
}

bool sinks_need_times(const struct sink *first)
{
	for (; first; first = first->next)
		if (first->ops->needs_times && first->ops->needs_times(first))
			return true;
	return false;
}

int sinks_count(struct sink *first, const struct call_count *count)
{
	struct sink *sink;
	int err = 0;

	for (sink = first; sink; sink = sink->next)
		err = first_error(err, sink->ops->count(sink, count));
	return err;
}

bool sinks_take_counts(const struct sink *first)
{
	for (; first; first = first->next)
		if (!first->ops->count)
			return false;
	return true;
}

int sinks_flush(struct sink *first)
{
	struct sink *sink;
	int err = 0;

	for (sink = first; sink; sink = sink->next)
		if (sink->ops->flush)
			err = first_error(err, sink->ops->flush(sink));
	return err;
}

int sinks_finish(struct sink *first)
{
	struct sink *sink;
	int err = 0;

	for (sink = first; sink; sink = sink->next)
		err = first_error(err, sink->ops->finish(sink));
	return err;
}

void sinks_free(struct sink *first)
{
	struct sink *next;

	for (; first; first = next) {
		next = first->next;
		first->ops->free(first);
	}
}
