/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/per_calls.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "filter/filter.h"
#include "heap/operand.h"
#include "sysdeps/linux/procfs.h"

/* One that runs. */
struct per_running {
	uint64_t id; /* its call's */
	pid_t tid;
	struct per_call so_far;    /* without those within that still run */
	struct per_running *outer; /* of the same thread */
	UT_hash_handle hh;         /* by tid; the innermost */
};

/* Whether its calls are what is measured is asked once of each function. */
struct per_function {
	const struct function *function;
	bool measured;
	UT_hash_handle hh;
};

struct per_calls {
	struct sink sink;
	struct per_calls_options options;
	struct per_function *known;
	struct per_running *running;
	struct per_total *totals;
};

static bool is_measured(struct per_calls *calls,
			const struct function *function)
{
	struct per_function *known;
	struct filter_library library = { .soname = function->library,
					  .is_main = !function->library };

	HASH_FIND_PTR(calls->known, &function, known);
	if (known)
		return known->measured;
	known = xcalloc(1, sizeof(*known));
	known->function = function;
	known->measured = filter_matches(calls->options.functions,
					 function->name, &library);
	HASH_ADD_PTR(calls->known, function, known);
	return known->measured;
}

/* ---- figures ---- */

/* What the kernel has counted of a thread. */
static void read_kernel(pid_t tid, uint64_t figures[PER_FIGURES])
{
	struct procfs_schedule schedule;
	struct procfs_faults faults;
	struct procfs_device_bytes bytes;
	const bool scheduled = procfs_schedule(tid, &schedule);
	const bool faulted = procfs_faults(tid, &faults);
	const bool moved = procfs_device_bytes(tid, &bytes);

	figures[PER_PROCESSOR] = scheduled ? schedule.ran_ns : PER_UNKNOWN;
	figures[PER_MINOR_FAULTS] = faulted ? faults.minor : PER_UNKNOWN;
	figures[PER_MAJOR_FAULTS] = faulted ? faults.major : PER_UNKNOWN;
	figures[PER_DEVICE_READ] = moved ? bytes.read : PER_UNKNOWN;
	figures[PER_DEVICE_WRITTEN] = moved ? bytes.written : PER_UNKNOWN;
}

/* … since it was looked at first. */
static void subtract_kernel(pid_t tid, uint64_t figures[PER_FIGURES])
{
	static const enum per_figure kernels[] = {
		PER_PROCESSOR,   PER_MINOR_FAULTS,   PER_MAJOR_FAULTS,
		PER_DEVICE_READ, PER_DEVICE_WRITTEN,
	};
	uint64_t now[PER_FIGURES];

	read_kernel(tid, now);
	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++) {
		uint64_t *figure = &figures[kernels[i]];

		if (*figure != PER_UNKNOWN)
			*figure = now[kernels[i]] == PER_UNKNOWN ?
					  PER_UNKNOWN :
					  now[kernels[i]] - *figure;
	}
}

static void add_figure(struct per_call *call, enum per_figure figure,
		       uint64_t number)
{
	uint64_t *sum = &call->figures[figure];

	if (*sum != PER_UNKNOWN)
		*sum = number == PER_UNKNOWN ? PER_UNKNOWN : *sum + number;
}

static struct per_use *use_of(struct per_use **uses,
			      const struct function *function)
{
	struct per_use *use;

	HASH_FIND_PTR(*uses, &function, use);
	if (use)
		return use;
	use = xcalloc(1, sizeof(*use));
	use->function = function;
	HASH_ADD_PTR(*uses, function, use);
	return use;
}

static void add_uses(struct per_use **to, const struct per_use *from)
{
	for (; from; from = from->hh.next) {
		struct per_use *use = use_of(to, from->function);

		use->calls += from->calls;
		use->timed += from->timed;
		use->ns += from->ns;
		use->bytes += from->bytes;
	}
}

static void free_uses(struct per_use **uses)
{
	struct per_use *use, *next;

	HASH_ITER(hh, *uses, use, next) {
		HASH_DEL(*uses, use);
		free(use);
	}
}

/* What was done within it, its outer one has done, too. */
static void end_running(struct per_running *running)
{
	static const enum per_figure sums[] = { PER_BLOCKS, PER_BYTES,
						PER_USABLE, PER_RELEASES };
	struct per_call *call = &running->so_far;

	if (running->outer) {
		struct per_call *outer = &running->outer->so_far;

		for (size_t i = 0; i < ARRAY_SIZE(sums); i++)
			add_figure(outer, sums[i], call->figures[sums[i]]);
		add_uses(&outer->uses, call->uses);
	}
	free_uses(&call->uses);
	free(running);
}

/* ---- what is called within ---- */

static struct per_running *innermost(struct per_calls *calls, pid_t tid)
{
	struct per_running *running;

	HASH_FIND_INT(calls->running, &tid, running);
	return running;
}

static bool acquires(const struct family_function *function)
{
	return function->family->has_size && !function->family->granularity &&
	       (function->act == FAMILY_ACQUIRE ||
		function->act == FAMILY_RESIZE);
}

static bool releases(const struct family_function *function)
{
	return function->family->has_size && !function->family->granularity &&
	       function->act == FAMILY_RELEASE;
}

static void on_begun(struct per_running *running, const struct event *event)
{
	const struct family_function *allocator =
		event->call->function->subject;

	if (!running)
		return;
	use_of(&running->so_far.uses, event->call->function)->calls++;
	if (allocator && releases(allocator))
		add_figure(&running->so_far, PER_RELEASES, 1);
}

/* A block that was acquired. */
struct acquired {
	uint64_t bytes, usable;
};

static bool acquired_by(const struct per_calls *calls,
			const struct event *event, struct acquired *ret)
{
	const struct call *call = event->call;
	const struct family_function *function = call->function->subject;
	const struct call_values values = {
		.arch = call->arch,
		.entry_regs = &call->entry,
		.result_regs = event->regs,
		.memory = call->memory,
	};
	uint64_t block;

	if (!function || !acquires(function) ||
	    !family_succeeded(function, call->arch->result(event->regs),
			      call->arch->word_size) ||
	    operand_value(&function->size, &values, 0, &ret->bytes) ||
	    operand_value(&function->handle, &values, 0, &block))
		return false;
	if (!calls->options.usable(calls->options.context, event, block,
				   &ret->usable))
		ret->usable = PER_UNKNOWN;
	return true;
}

static void on_returned(const struct per_calls *calls,
			struct per_running *running, const struct event *event)
{
	struct acquired acquired;
	struct per_call *call;
	struct per_use *use;

	if (!running)
		return;
	call = &running->so_far;
	use = use_of(&call->uses, event->call->function);
	use->timed++;
	use->ns += event_mean_duration(event);
	if (!acquired_by(calls, event, &acquired))
		return;
	use->bytes += acquired.bytes;
	add_figure(call, PER_BLOCKS, 1);
	add_figure(call, PER_BYTES, acquired.bytes);
	add_figure(call, PER_USABLE, acquired.usable);
}

/* ---- calls that are measured ---- */

static void begin(struct per_calls *calls, const struct call *call)
{
	struct per_running *running = xcalloc(1, sizeof(*running));

	running->id = call->id;
	running->tid = call->tid;
	running->outer = innermost(calls, call->tid);
	read_kernel(call->tid, running->so_far.figures);
	if (running->outer)
		HASH_DEL(calls->running, running->outer);
	HASH_ADD_INT(calls->running, tid, running);
}

/* What it had called that is still there will not be told to be over. */
static struct per_running *take(struct per_calls *calls,
				const struct call *call)
{
	struct per_running *first = innermost(calls, call->tid), *each = first;

	while (each && each->id != call->id)
		each = each->outer;
	if (!each)
		return NULL;
	HASH_DEL(calls->running, first);
	while (first != each) {
		struct per_running *inner = first;

		first = first->outer;
		end_running(inner);
	}
	if (each->outer)
		HASH_ADD_INT(calls->running, tid, each->outer);
	return each;
}

static struct per_total *total_of(struct per_calls *calls,
				  const struct call *call)
{
	const struct per_total_of of = { call->function, call->pid };
	struct per_total *total;

	HASH_FIND(hh, calls->totals, &of, sizeof(of), total);
	if (total)
		return total;
	total = xcalloc(1, sizeof(*total));
	total->of = of;
	HASH_ADD(hh, calls->totals, of, sizeof(of), total);
	return total;
}

/* Of one that was left otherwise nobody knows how far it had come. */
static void sum_up(struct per_total *total, const struct per_call *call)
{
	total->calls++;
	if (!call->returned)
		return;
	total->returned++;
	for (size_t i = 0; i < PER_FIGURES; i++) {
		if (call->figures[i] == PER_UNKNOWN)
			continue;
		log_histogram_add(&total->figures[i], call->figures[i]);
		total->sums[i] += call->figures[i];
	}
	add_uses(&total->uses, call->uses);
}

static void end(struct per_calls *calls, const struct event *event)
{
	struct per_running *running = take(calls, event->call);
	struct per_call *call;

	if (!running)
		return;
	call = &running->so_far;
	call->call = event->call;
	call->returned = event->kind == EVENT_RETURN;
	call->figures[PER_TIME] = call->returned ? event_duration(event) :
						   PER_UNKNOWN;
	subtract_kernel(event->call->tid, call->figures);
	sum_up(total_of(calls, event->call), call);
	if (calls->options.told)
		calls->options.told(calls->options.context, call);
	end_running(running);
}

/* ---- the sink ---- */

static void on_call_event(struct per_calls *calls, const struct event *event)
{
	const struct call *call = event->call;
	const bool measured = is_measured(calls, call->function);

	if (call->within)
		return;
	if (event->kind == EVENT_CALL) {
		on_begun(innermost(calls, call->tid), event);
		if (measured)
			begin(calls, call);
		return;
	}
	if (measured)
		end(calls, event);
	if (event->kind == EVENT_RETURN)
		on_returned(calls, innermost(calls, call->tid), event);
}

static void remove_total(struct per_calls *calls, struct per_total *total)
{
	HASH_DEL(calls->totals, total);
	for (size_t i = 0; i < PER_FIGURES; i++)
		log_histogram_fini(&total->figures[i]);
	free_uses(&total->uses);
	free(total);
}

/* Who is told that the process is over has made a report of it. */
static void forget(struct per_calls *calls, pid_t pid)
{
	struct per_total *total, *next;

	HASH_ITER(hh, calls->totals, total, next)
		if (total->of.pid == (uint64_t)pid)
			remove_total(calls, total);
	if (calls->options.flush)
		calls->options.flush(calls->options.context, pid);
}

static int on_event(struct sink *sink, const struct event *event)
{
	struct per_calls *calls = (struct per_calls *)sink;

	switch (event->kind) {
	case EVENT_CALL:
	case EVENT_RETURN:
	case EVENT_ABANDON:
		on_call_event(calls, event);
		break;
	case EVENT_EXEC:
	case EVENT_EXIT:
		forget(calls, event->pid);
		break;
	default:
		break;
	}
	return 0;
}

static int on_flush(struct sink *sink)
{
	struct per_calls *calls = (struct per_calls *)sink;

	if (calls->options.flush)
		calls->options.flush(calls->options.context, 0);
	return 0;
}

static void on_free(struct sink *sink)
{
	struct per_calls *calls = (struct per_calls *)sink;
	struct per_running *running, *next;
	struct per_function *known, *further;
	struct per_total *total, *other;

	HASH_ITER(hh, calls->running, running, next) {
		HASH_DEL(calls->running, running);
		while (running) {
			struct per_running *outer = running->outer;

			end_running(running);
			running = outer;
		}
	}
	HASH_ITER(hh, calls->known, known, further) {
		HASH_DEL(calls->known, known);
		free(known);
	}
	HASH_ITER(hh, calls->totals, total, other)
		remove_total(calls, total);
	free(calls);
}

static const struct sink_ops sink_ops = {
	.event = on_event,
	.flush = on_flush,
	.finish = on_flush,
	.free = on_free,
};

struct per_calls *per_calls_new(const struct per_calls_options *options)
{
	struct per_calls *calls = xcalloc(1, sizeof(*calls));

	calls->sink.ops = &sink_ops;
	calls->options = *options;
	return calls;
}

struct sink *per_calls_sink(struct per_calls *calls)
{
	return &calls->sink;
}

const struct per_total *per_calls_next(const struct per_calls *calls, pid_t pid,
				       const struct per_total *after)
{
	const struct per_total *each = after ? after->hh.next : calls->totals;

	while (each && each->of.pid != (uint64_t)pid)
		each = each->hh.next;
	return each;
}
