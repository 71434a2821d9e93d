/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "growth/faults.h"

#include <stdlib.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/signal_bit.h"
#include "base/xalloc.h"
#include "stack/stack_copy.h"
#include "sysdeps/linux/fault_events.h"
#include "sysdeps/linux/pagemap.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/ptrace.h"

struct last_fault {
	bool in_kernel;
	taddr_t ip, sp;
	stack_id stack;
};

/* A task and its events. */
struct fault_task {
	struct task *task;
	struct fault_events events;
	int error;     /* why there are none */
	bool told;     /* of both, where the faults are booked */
	bool early;    /* since nothing could be booked yet */
	bool deaf;     /* it has blocked the signal: we get one instead */
	uint64_t lost; /* … of so many as well */
	uint64_t throttled;
	struct last_fault last;
	struct growth_fault held; /* until it is known what it has brought */
	bool holds;
	UT_hash_handle hh; /* by the task */
};

struct faults {
	struct event_source source;
	struct faults_options options;
	struct fault_task *tasks;
	uint8_t unwrapped[PERF_RECORD_ROOM];
};

static struct faults *faults_of(struct event_source *source)
{
	return (struct faults *)source;
}

/* ---- booking ---- */

/* A task in a copy of an instruction stands, for us, where that was. */
static void leave_copies(struct space *space, struct regs *regs)
{
	taddr_t original;
	bool done;

	if (scratch_resolve_ip(space, space->arch->ip(regs), &original, &done))
		space->arch->set_ip(regs, original);
}

static stack_id stack_of(struct faults *faults, const struct task *task,
			 struct fault_sample *sample)
{
	struct space *space = task->tracee->space;
	struct stack_copy copy;

	if (!sample->has_regs)
		return STACK_NONE;
	leave_copies(space, &sample->regs);
	stack_copy_init(&copy, &space->memory.memory,
			space->arch->sp(&sample->regs), sample->stack,
			sample->stack_size, sample->stack_goes_on);
	return unwind_copy(faults->options.unwinder, space, task->tid,
			   &sample->regs, &copy, faults->options.depth);
}

/*
 * In one system call no stop of the task can empty the ring. What was lost
 * between two faults of the same one is that call's, or that of a loop which
 * makes it again.
 */
static void book_lost(struct fault_task *own, struct growth *growth,
		      const struct fault_sample *sample,
		      const struct last_fault *now)
{
	struct growth_fault_source *source = growth_fault_source(growth);
	uint64_t lost = own->events.told_lost - own->lost;

	if (!lost || !now->in_kernel || !own->last.in_kernel ||
	    now->ip != own->last.ip || now->sp != own->last.sp ||
	    now->stack != own->last.stack)
		return;
	growth_faults_in_bulk(growth, now->stack, sample->time, lost);
	source->in_system_calls += lost;
	source->in_bulk += lost;
	own->lost = own->events.told_lost;
}

#define HUGE_PAGE (UINT64_C(1) << 21)

/*
 * A fault is told when it begins: the page may not be there yet. It is when the
 * task tells of the next one, or has ended.
 */
static void settle_held(struct fault_task *own, struct growth *growth,
			bool it_is_over)
{
	struct growth_fault *fault = &own->held;
	enum page_kind kind;

	if (!own->holds)
		return;
	kind = growth_fault_is_first(growth, fault->address) ?
		       pagemap_kind(own->task->tid, fault->address) :
		       PAGE_KNOWN;
	if (kind == PAGE_ABSENT && !it_is_over)
		return;
	if (kind == PAGE_HUGE) {
		fault->address &= -HUGE_PAGE;
		fault->size = HUGE_PAGE;
	}
	own->holds = false;
	growth_fault(growth, fault);
}

/*
 * One fault may have brought a huge page. The kernel is asked once for each
 * place where one could be.
 */
static void book(struct faults *faults, struct fault_task *own,
		 struct growth *growth, struct fault_sample *sample)
{
	const struct arch_ops *arch = own->task->tracee->space->arch;
	const struct last_fault now = {
		.in_kernel = sample->in_kernel,
		.ip = arch->ip(&sample->regs),
		.sp = arch->sp(&sample->regs),
		.stack = stack_of(faults, own->task, sample),
	};

	settle_held(own, growth, true);
	book_lost(own, growth, sample, &now);
	own->last = now;
	growth_fault_source(growth)->in_system_calls += sample->in_kernel;
	own->holds = true;
	own->held = (struct growth_fault){
		.stack = now.stack,
		.time = sample->time,
		.address = sample->address,
	};
	settle_held(own, growth, false);
}

static void tell_source(struct fault_task *own,
			struct growth_fault_source *source)
{
	if (own->told || (own->events.samples < 0 && !own->error))
		return;
	own->told = true;
	if (own->error) {
		source->refused++;
		source->error = own->error;
		return;
	}
	source->method = FAULTS_BY_EVENTS;
	source->in_kernel = own->events.in_kernel;
	source->tasks++;
}

static void tell_losses(struct fault_task *own,
			struct growth_fault_source *source)
{
	source->lost += own->events.told_lost - own->lost;
	own->lost = own->events.told_lost;
	source->throttled += own->events.throttled - own->throttled;
	own->throttled = own->events.throttled;
}

static struct growth *growth_of(const struct faults *faults,
				const struct task *task)
{
	return faults->options.growth(faults->options.context,
				      task->tracee->pid);
}

static bool blocks_signal(pid_t tid)
{
	struct procfs_status status;

	return !procfs_status(tid, &status) &&
	       status.signals_blocked & SIGNAL_BIT(FAULT_SIGNAL);
}

/* More samples than there should be before its signal. */
static void listen_to(struct fault_task *own)
{
	bool deaf = blocks_signal(own->task->tid);

	if (deaf != own->deaf)
		fault_events_signal(&own->events, deaf ? 0 : own->task->tid);
	own->deaf = deaf;
}

/* What came before watching began is not part of it. */
static void skip_early(struct fault_task *own)
{
	struct fault_sample sample;

	while (fault_events_next(&own->events, &sample))
		;
	own->lost = own->events.told_lost;
}

static void drain(struct faults *faults, struct fault_task *own)
{
	struct growth *growth = growth_of(faults, own->task);
	struct fault_sample sample;
	unsigned count = 0;

	if (own->early)
		skip_early(own);
	if (!growth)
		return;
	own->early = false;
	tell_source(own, growth_fault_source(growth));
	for (; fault_events_next(&own->events, &sample); count++)
		book(faults, own, growth, &sample);
	settle_held(own, growth, false);
	tell_losses(own, growth_fault_source(growth));
	if (count > own->events.period || (count && own->deaf))
		listen_to(own);
}

void faults_drain(struct faults *faults)
{
	struct fault_task *own, *next;

	HASH_ITER(hh, faults->tasks, own, next)
		drain(faults, own);
}

/* ---- tasks ---- */

static struct fault_task *find(const struct faults *faults,
			       const struct task *task)
{
	struct fault_task *own;

	HASH_FIND_PTR(faults->tasks, &task, own);
	return own;
}

/* All of them together are a few hundred MiB at most. */
static size_t room_for_one(const struct faults *faults)
{
	unsigned tasks = HASH_COUNT(faults->tasks);

	return tasks <= 4   ? 1 << 22 :
	       tasks <= 16  ? 1 << 20 :
	       tasks <= 256 ? 1 << 18 :
			      1 << 16;
}

static void open_events(struct faults *faults, struct fault_task *own)
{
	own->told = own->deaf = false;
	own->early = !growth_of(faults, own->task);
	own->last = (struct last_fault){ 0 };
	own->lost = own->throttled = 0;
	own->error = fault_events_open(&own->events, own->task->tid,
				       room_for_one(faults), faults->unwrapped);
	if (own->error)
		diag_debug(DIAG_SESSION, "page faults of %d: error %d",
			   (int)own->task->tid, -own->error);
	/* glibc begins a thread with all signals blocked, for a moment. */
	else if (!own->task->newborn)
		listen_to(own);
}

/* It runs no more: what it has not told is lost. */
static void close_events(struct faults *faults, struct fault_task *own)
{
	struct growth *growth = growth_of(faults, own->task);
	struct fault_events *events = &own->events;
	uint64_t all, seen;

	if (events->samples < 0)
		return;
	drain(faults, own);
	all = fault_events_count(events);
	seen = events->sampled + events->told_lost;
	if (all > seen)
		events->told_lost += all - seen;
	drain(faults, own);
	if (growth)
		settle_held(own, growth, true);
	fault_events_close(events);
}

/* A command that is being started: until its exec, it is a copy of us. */
static bool is_ours_yet(const struct tracee *tracee)
{
	return tracee->started && !tracee->copied && !tracee->borrows &&
	       !tracee->space->modules && !tracee->tasks->next;
}

/* A child that isn't followed is let go before it does anything. */
static void on_begin(struct event_source *source, struct task *task)
{
	struct faults *faults = faults_of(source);
	struct tracee *tracee = task->tracee;
	struct fault_task *own;

	if (tracee->muted || (tracee->copied && !tracee->space->tracer->follow))
		return;
	own = xcalloc(1, sizeof(*own));
	own->task = task;
	own->events = fault_events_none();
	HASH_ADD_PTR(faults->tasks, task, own);
	if (!is_ours_yet(tracee))
		open_events(faults, own);
}

static void on_end(struct event_source *source, struct task *task)
{
	struct faults *faults = faults_of(source);
	struct fault_task *own = find(faults, task);

	if (!own)
		return;
	close_events(faults, own);
	HASH_DEL(faults->tasks, own);
	free(own);
}

/* Events of a thread that isn't the leader have gone with its number. */
static void on_exec(struct event_source *source, struct task *task)
{
	struct faults *faults = faults_of(source);
	struct fault_task *own = find(faults, task);

	if (!own)
		return;
	close_events(faults, own);
	open_events(faults, own);
}

static bool on_signal(struct event_source *source, struct task *task,
		      int signal)
{
	struct faults *faults = faults_of(source);
	struct fault_task *own;
	siginfo_t info;

	if (signal != FAULT_SIGNAL)
		return false;
	own = find(faults, task);
	if (!own || ptrace_get_siginfo(task->tid, &info) ||
	    !fault_events_is_signal(&own->events, &info))
		return false;
	drain(faults, own);
	return true;
}

static void on_drain(struct event_source *source, uint64_t now UNUSED)
{
	faults_drain(faults_of(source));
}

static void on_leaving(struct event_source *source)
{
	struct faults *faults = faults_of(source);
	struct fault_task *own, *next;

	HASH_ITER(hh, faults->tasks, own, next)
		fault_events_stop(&own->events);
	faults_drain(faults);
	HASH_ITER(hh, faults->tasks, own, next)
		if (own->holds)
			settle_held(own, growth_of(faults, own->task), true);
}

static const struct event_source_ops ops = {
	.task_begin = on_begin,
	.task_end = on_end,
	.exec = on_exec,
	.signal = on_signal,
	.drain = on_drain,
	.leaving = on_leaving,
};

struct faults *faults_new(const struct faults_options *options)
{
	struct faults *faults = xcalloc(1, sizeof(*faults));

	faults->source.ops = &ops;
	faults->options = *options;
	return faults;
}

void faults_free(struct faults *faults)
{
	struct fault_task *own, *next;

	if (!faults)
		return;
	HASH_ITER(hh, faults->tasks, own, next) {
		HASH_DEL(faults->tasks, own);
		fault_events_close(&own->events);
		free(own);
	}
	free(faults);
}

struct event_source *faults_source(struct faults *faults)
{
	return &faults->source;
}
