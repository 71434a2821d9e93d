/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "heap/operand.h"
#include "sysdeps/linux/procfs.h"

/* Operands that are still to be read. */
enum {
	NEED_HANDLE = 1,
	NEED_OLD = 2,
	NEED_SIZE = 4,
	NEED_OLD_SIZE = 8,
	NEED_ALL = 15,
};

/* What a running call will do to one family. */
struct pending_act {
	struct heap_act act;
	unsigned needs;
};

#define ACTS_MAX 4

/* A running call. */
struct pending {
	uint64_t call;
	unsigned count;
	struct pending_act acts[ACTS_MAX];
	UT_hash_handle hh; /* by call */
};

/* A function that goes by names of several forms. */
struct formless {
	struct family_function function;
	struct formless *next;
};

struct watch {
	struct sink sink;
	struct formless *formless;
	struct prober_pick pick;
	struct watch_options options;
	struct watched *processes;
	struct pending *pending;
	bool off;
	bool found;
};

/* ---- processes ---- */

static struct watched *find(const struct watch *watch, pid_t pid)
{
	struct watched *process;

	HASH_FIND_INT(watch->processes, &pid, process);
	return process;
}

static struct watched_cost cost_of(const struct watch *watch, pid_t pid)
{
	return watch->options.cost ?
		       watch->options.cost(watch->options.context, pid) :
		       (struct watched_cost){ 0 };
}

static void sample(const struct watch *watch, struct watched *process,
		   uint64_t now)
{
	const struct watched_cost cost = cost_of(watch, process->pid);
	struct vitals vitals;

	/* One that is gone keeps what was known of it last. */
	if (cost.stops > process->first_cost.stops) {
		process->cost.stops = cost.stops - process->first_cost.stops;
		process->cost.stopped_ns =
			cost.stopped_ns - process->first_cost.stopped_ns;
	}

	if (vitals_read("", process->pid, &vitals))
		return;
	if (!process->samples++)
		process->first_vitals = vitals;
	process->vitals = vitals;
	history_change(&process->resident, now - process->start,
		       (struct history_state){
			       .bytes = vitals.resident_bytes });
}

void watch_sample(struct watch *watch, uint64_t now)
{
	struct watched *process, *next;

	HASH_ITER(hh, watch->processes, process, next)
		if (!process->end)
			sample(watch, process, now);
}

static struct watched *add(struct watch *watch, pid_t pid, bool complete,
			   uint64_t time)
{
	struct watched *process = xcalloc(1, sizeof(*process));
	const struct heap_options options = {
		.families = watch->options.families,
		.start = time,
		.complete = complete,
		.component = watch->options.component,
		.context = watch->options.context,
	};

	process->pid = pid;
	process->program = procfs_exe(pid);
	process->start = time;
	process->complete = complete;
	process->heap = heap_new(&options);
	HASH_ADD_INT(watch->processes, pid, process);
	process->first_cost = cost_of(watch, pid);
	sample(watch, process, time);
	return process;
}

/* Children that are followed make themselves known by what they do. */
static struct watched *of_event(struct watch *watch, const struct event *event)
{
	struct watched *process = find(watch, event->pid);

	return process ? process : add(watch, event->pid, false, event->time);
}

static void forget(struct watch *watch, struct watched *process)
{
	HASH_DEL(watch->processes, process);
	heap_free(process->heap);
	history_fini(&process->resident);
	free(process->program);
	free(process);
}

static void end(struct watch *watch, const struct event *event,
		enum watched_state state, int status)
{
	struct watched *process = find(watch, event->pid);

	if (!process)
		return;
	sample(watch, process, event->time);
	process->end = event->time;
	process->state = state;
	process->status = status;
	/* While processes are let go of there is no time for reports. */
	if (state == WATCHED_LEFT)
		return;
	watch->options.ended(watch->options.context, process);
	forget(watch, process);
}

/* ---- calls ---- */

static struct call_values values_of(const struct event *event)
{
	const struct call *call = event->call;

	return (struct call_values){
		.arch = call->arch,
		.entry_regs = &call->entry,
		.result_regs = event->kind == EVENT_RETURN ? event->regs : NULL,
		.memory = call->memory,
	};
}

/* Who has called, as far as the stack tells. */
struct caller {
	const char *library;
	bool is_own; /* the library that defines the function itself */
};

static struct caller caller_of(const struct watch *watch,
			       const struct call *call)
{
	const char *definer = call->function->library, *soname;
	struct frame frame;

	if (!stacks_frames(watch->options.stacks, call->stack, &frame, 1))
		return (struct caller){ 0 };
	soname = frame.code->image ? image_soname(frame.code->image) : NULL;
	return (struct caller){
		.library = frame.code->path,
		.is_own = definer && soname && !strcmp(definer, soname),
	};
}

/* Reads what can be read by now; false when something never will be. */
static bool fill(struct pending_act *pending, const struct call_values *values,
		 unsigned which)
{
	const struct family_function *function = pending->act.function;
	const struct {
		const struct operand *operand;
		unsigned need;
		uint64_t *value;
	} fields[] = {
		{ &function->handle, NEED_HANDLE, &pending->act.handle },
		{ &function->old, NEED_OLD, &pending->act.old },
		{ &function->size, NEED_SIZE, &pending->act.size },
		{ &function->old_size, NEED_OLD_SIZE, &pending->act.old_size },
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		int err;

		if (!(pending->needs & fields[i].need))
			continue;
		err = operand_value(fields[i].operand, values, which,
				    fields[i].value);
		if (err == -EAGAIN)
			continue;
		if (err && err != -ENOENT)
			return false;
		pending->needs &= ~fields[i].need;
	}
	return true;
}

/*
 * What libc maps for itself (the stacks of threads, which it keeps for later
 * ones) is no business of the program's.
 */
static bool is_wanted(const struct watch *watch, struct watched *process,
		      const struct family_function *function,
		      const struct caller *caller)
{
	if (function->family->granularity && caller->is_own)
		return false;
	if (!watch->off || function->act != FAMILY_ACQUIRE)
		return true;
	process->not_kept++;
	return false;
}

/* The acts of a call that has begun. */
static void begin_acts(struct watch *watch, struct watched *process,
		       const struct event *event, struct pending *ret)
{
	const struct call *call = event->call;
	const struct call_values values = values_of(event);
	const struct family_function *function = call->function->subject;
	const struct caller caller = caller_of(watch, call);

	ret->call = call->id;
	ret->count = 0;
	for (; function && ret->count < ACTS_MAX; function = function->next) {
		struct pending_act *pending = &ret->acts[ret->count];

		if (!is_wanted(watch, process, function, &caller))
			continue;
		*pending = (struct pending_act){
			.act.function = function,
			.act.call = call->id,
			.act.begin = call->time,
			.act.tid = call->tid,
			.act.stack = call->stack,
			.act.library = caller.library,
			.needs = NEED_ALL,
		};
		if (fill(pending, &values, 0))
			ret->count++;
		else
			process->unreadable++;
	}
}

/* Nobody will wait for its return: what it does is done. */
static void act_at_entry(struct watched *process, struct pending *pending)
{
	for (unsigned i = 0; i < pending->count; i++) {
		struct heap_act *act = &pending->acts[i].act;

		act->call = 0;
		heap_act(process->heap, act);
	}
}

static void on_call(struct watch *watch, const struct event *event)
{
	struct watched *process = of_event(watch, event);
	struct pending acts, *pending;

	process->calls++;
	begin_acts(watch, process, event, &acts);
	if (event->call->function->entry_only) {
		act_at_entry(process, &acts);
		return;
	}
	if (!acts.count)
		return;
	for (unsigned i = 0; i < acts.count; i++)
		heap_begin(process->heap, &acts.acts[i].act);
	pending = xmalloc(sizeof(*pending));
	*pending = acts;
	HASH_ADD(hh, watch->pending, call, sizeof(pending->call), pending);
}

static struct pending *take(struct watch *watch, const struct event *event)
{
	struct pending *pending;

	HASH_FIND(hh, watch->pending, &event->call->id, sizeof(pending->call),
		  pending);
	if (pending)
		HASH_DEL(watch->pending, pending);
	return pending;
}

static void end_act(struct watched *process, const struct pending_act *pending,
		    const struct event *event)
{
	const struct call_values values = values_of(event);
	const struct family_function *function = pending->act.function;
	uint64_t result = event->call->arch->result(event->regs);
	unsigned handles = function->handle.count ? function->handle.count : 1;

	for (unsigned which = 0; which < handles; which++) {
		struct pending_act each = *pending;

		each.act.begin += event->stopped_ns;
		each.act.end = event->time;
		each.act.failed = !family_succeeded(
			function, result, event->call->arch->word_size);
		if (!each.act.failed && !fill(&each, &values, which)) {
			process->unreadable++;
			each.act.failed = true;
		}
		heap_act(process->heap, &each.act);
	}
}

static void on_return(struct watch *watch, const struct event *event)
{
	struct watched *process = of_event(watch, event);
	struct pending *pending = take(watch, event);

	for (unsigned i = 0; pending && i < pending->count; i++)
		end_act(process, &pending->acts[i], event);
	free(pending);
}

/* An exception that operator new has thrown says that it has failed. */
static void on_abandon(struct watch *watch, const struct event *event)
{
	struct watched *process = of_event(watch, event);
	struct pending *pending = take(watch, event);

	if (event->end == CALL_UNSEEN)
		process->unseen++;
	for (unsigned i = 0; pending && i < pending->count; i++) {
		struct heap_act *act = &pending->acts[i].act;

		act->end = event->time;
		act->failed = true;
		if (event->end == CALL_EXCEPTION)
			heap_act(process->heap, act);
		else
			heap_abandon(process->heap, act);
	}
	free(pending);
}

static void on_exec(struct watch *watch, const struct event *event)
{
	end(watch, event, WATCHED_REPLACED, 0);
	add(watch, event->pid, true, event->time);
}

static int on_event(struct sink *sink, const struct event *event)
{
	struct watch *watch = (struct watch *)sink;

	switch (event->kind) {
	case EVENT_CALL:
		if (event->call->function->subject)
			on_call(watch, event);
		break;
	case EVENT_RETURN:
		if (event->call->function->subject)
			on_return(watch, event);
		break;
	case EVENT_ABANDON:
		if (event->call->function->subject)
			on_abandon(watch, event);
		break;
	case EVENT_EXEC:
		on_exec(watch, event);
		break;
	case EVENT_EXIT:
		end(watch, event, WATCHED_EXITED, event->status);
		break;
	case EVENT_LEAVE:
		end(watch, event, WATCHED_LEFT, 0);
		break;
	case EVENT_SIGNAL:
	case EVENT_FORK:
	case EVENT_THREAD:
		break;
	}
	return 0;
}

static int on_finish(struct sink *sink)
{
	struct watch *watch = (struct watch *)sink;
	struct watched *process, *next;

	HASH_ITER(hh, watch->processes, process, next) {
		if (!process->end) {
			process->end = clock_now();
			process->state = WATCHED_LEFT;
		}
		watch->options.ended(watch->options.context, process);
		forget(watch, process);
	}
	return 0;
}

static void on_free(struct sink *sink)
{
	struct watch *watch = (struct watch *)sink;
	struct watched *process, *next_process;
	struct pending *pending, *next_pending;

	HASH_ITER(hh, watch->pending, pending, next_pending) {
		HASH_DEL(watch->pending, pending);
		free(pending);
	}
	HASH_ITER(hh, watch->processes, process, next_process)
		forget(watch, process);
	while (watch->formless) {
		struct formless *next = watch->formless->next;

		free(watch->formless);
		watch->formless = next;
	}
	free(watch);
}

static const struct sink_ops sink_ops = {
	.event = on_event,
	.finish = on_finish,
	.free = on_free,
};

/* ---- which functions ---- */

/* glibc's dynamic linker has a malloc for itself, until libc is there. */
static bool is_linkers_own(const struct module *module)
{
	return module->is_linker && !strncmp(module->name, "ld-linux", 8);
}

/*
 * The exception that operator new throws is made within it, and given back when
 * it was caught: by the program, or within the operator new that throws nothing.
 */
static bool is_apart(const char *symbol)
{
	return !strcmp(symbol, "__cxa_allocate_exception") ||
	       !strcmp(symbol, "__cxa_free_exception");
}

/*
 * What glibc's malloc does at the end of a thread: it calls free() for what is
 * its own. Only static programs have the symbol, in others free() is reached
 * by another way.
 */
static bool is_inside(const char *symbol)
{
	return !strcmp(symbol, "__malloc_arena_thread_freeres");
}

static bool wants(void *context, const char *symbol,
		  const struct module *module)
{
	const struct watch *watch = context;

	return (families_find(watch->options.families, symbol) ||
		is_apart(symbol) || is_inside(symbol)) &&
	       !is_linkers_own(module);
}

static bool same_form(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool is_basic(const struct family_function *function)
{
	return same_form(function->form, function->family->functions[0]->form);
}

/*
 * A release is told by its entry, unless it may fail, or is of a form that
 * stands upon another: operator delete calls free, which must not count then.
 */
static bool is_done_at_entry(const struct family_function *function)
{
	for (; function; function = function->next)
		if (function->act != FAMILY_RELEASE ||
		    function->success.compare != COMPARE_ALWAYS ||
		    function->size.kind != OPERAND_NONE ||
		    !is_basic(function))
			return false;
	return true;
}

/*
 * Functions that call others of their unit stand for them: operator new for
 * malloc, malloc for mmap.
 */
static unsigned group_of(const struct watch *watch, const struct family *family)
{
	size_t i;

	for (i = 0; i < families_count(watch->options.families); i++)
		if (!strcmp(families_at(watch->options.families, i)->unit,
			    family->unit))
			break;
	return 1 + i % UINT8_MAX;
}

static void describe(void *context, struct function *function)
{
	struct watch *watch = context;
	const struct family_function *first =
		families_find(watch->options.families, function->name);

	if (!first) {
		function->apart = is_apart(function->name);
		if (!function->apart)
			function->group = group_of(
				watch, families_at(watch->options.families, 0));
		return;
	}
	watch->found = true;
	function->subject = first;
	function->group = group_of(watch, first->family);
	function->entry_only = is_done_at_entry(first);
}

/*
 * mimalloc's free() and operator delete are one function: which of them the
 * program has called can't be told, so it fits everything.
 */
static void also_named(void *context, struct function *function,
		       const char *symbol)
{
	struct watch *watch = context;
	const struct family_function *first = function->subject;
	const struct family_function *other =
		families_find(watch->options.families, symbol);
	struct formless *formless;

	if (!first || !other || !first->form || same_form(first->form, other->form))
		return;
	formless = xcalloc(1, sizeof(*formless));
	formless->function = *first;
	formless->function.form = NULL;
	formless->next = watch->formless;
	watch->formless = formless;
	function->subject = &formless->function;
}

struct sink *watch_sink(struct watch *watch)
{
	return &watch->sink;
}

const struct prober_pick *watch_pick(const struct watch *watch)
{
	return &watch->pick;
}

struct watch *watch_new(const struct watch_options *options)
{
	struct watch *watch = xcalloc(1, sizeof(*watch));

	watch->sink.ops = &sink_ops;
	watch->options = *options;
	watch->pick = (struct prober_pick){
		.wants = wants,
		.describe = describe,
		.also_named = also_named,
		.context = watch,
	};
	return watch;
}

void watch_add(struct watch *watch, pid_t pid, bool complete)
{
	if (!find(watch, pid))
		add(watch, pid, complete, clock_now());
}

void watch_switch(struct watch *watch, bool on)
{
	watch->off = !on;
}

bool watch_is_on(const struct watch *watch)
{
	return !watch->off;
}

const struct watched *watch_next(const struct watch *watch,
				 const struct watched *after)
{
	return after ? after->hh.next : watch->processes;
}

bool watch_has_found(const struct watch *watch)
{
	return watch->found;
}
