/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/loop.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/diag.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/children.h"
#include "tracee/hit.h"
#include "tracee/passing.h"
#include "tracee/patch.h"
#include "tracee/syscall.h"

/* Forgets a task that is ours no more; with the last one goes its process. */
static void release(struct tracer *tracer, struct task *task)
{
	struct tracee *tracee = task->tracee;

	task_free(tracer, task);
	if (!tracee || tracee->tasks || tracer->keeps_tracees)
		return;
	tracer->client->ops->leave(tracer->client, tracee);
	tracee_free(tracer, tracee);
}

static void write_back(struct task *task)
{
	struct space *space = task->tracee ? task->tracee->space : NULL;
	int err = 0;

	if (space)
		guardian_mark_task(space->tracer->guardian, task->watch, false);
	if (task->regs_changed)
		err = ptrace_set_regs(task->tid, &task->regs);
	else if (task->ip_changed)
		err = ptrace_set_ip(task->tid, space->arch->ip(&task->regs));
	if (err)
		diag_debug(DIAG_STOP, "%d is gone", (int)task->tid);
	/* leave_in_need() may come between any two lines. */
	task->resuming = true;
	atomic_signal_fence(memory_order_seq_cst);
	task_forget_regs(task);
	task->put_back = false;
}

static void detach(struct tracer *tracer, struct task *task)
{
	task_leave_scratch(task);
	task_leave_guest(task);
	write_back(task);
	(void)ptrace_detach(task->tid, task->deliver);
	release(tracer, task);
}

/*
 * The stop is over. The clock is read before the kernel is asked to resume the
 * task: it may run as soon as that, and stop again before we come back.
 */
static void book_stop(struct tracer *tracer, struct task *task)
{
	uint64_t now = clock_now(), stopped = now - task->stop_time;
	uint64_t began = task->stop_time > tracer->last_resumed ?
				 task->stop_time :
				 tracer->last_resumed;

	tracer->worked_ns += now - began;
	tracer->last_resumed = now;
	tracer->counts.stopped_ns += stopped;
	task->stops.stopped_ns += stopped;
	task->stops.waits_ns += tracer->price.now.waits;
	if (task->tracee)
		task->tracee->stopped_ns += stopped;
	if (!task->waited)
		task->cost.still_ns += stopped + tracer->price.now.mean;
	if (++task->cost.stops % COST_WINDOW == 0)
		cost_look(tracer, task);
	task->resumed = now;
	task->worked_ns = tracer->worked_ns;
}

/* Stops after which it is looked where a task runs: that takes some 10 µs. */
#define NEAR_WINDOW 32

/* What the way from its last stop to this one tells of the price of stops. */
static void price_way(struct tracer *tracer, struct task *task, uint64_t time)
{
	if (task->cost.stops % NEAR_WINDOW == 0)
		task->cost.near = follow_is_near(task->tid);
	if (task->place && time > task->resumed)
		price_note(&tracer->price, task->place, time - task->resumed,
			   tracer->worked_ns - task->worked_ns,
			   task->cost.near);
}

static void book_way(const struct tracer *tracer, struct task *task)
{
	const struct stop_price *price = &tracer->price.now;

	task->stops.least_ns +=
		price_guess(price, tracer->worked_ns - task->worked_ns);
	task->stops.mean_ns += price->mean;
}

/* Does what the handlers of the stop have decided. */
static void settle(struct tracer *tracer, struct task *task)
{
	/* Gone tasks (-ERR_GONE) still owe us their exit status. */
	if (!task->stopped || task->queued || task->action == RESUME_HOLD)
		return;
	if (task->action == RESUME_DETACH) {
		detach(tracer, task);
		return;
	}
	write_back(task);
	guardian_mark_resumed(tracer->guardian, task->watch);
	task->stopped = false;
	if (task->listening || task->action == RESUME_LISTEN)
		guardian_mark_stopped(tracer->guardian, task->watch,
				      task->action == RESUME_LISTEN);
	book_stop(tracer, task);
	task->listening = task->action == RESUME_LISTEN;
	standstill_note_listening(task);
	if (task->listening)
		(void)ptrace_listen(task->tid);
	else if (syscall_stops_at(tracer, task))
		(void)ptrace_run_to_syscall(task->tid, task->deliver);
	else
		(void)ptrace_continue(task->tid, task->deliver);
	task->resuming = false;
}

/* A child whose first stop came before its parent's event. */
static void settle_waiting_child(struct tracer *tracer, struct task *child)
{
	if (!child || !child->newborn || !child->stopped || !child->tracee)
		return;
	child->action = tracer->leaving ? RESUME_DETACH : RESUME_RUN;
	(void)child_first_stop(tracer, child);
	settle(tracer, child);
}

/*
 * With the last task the process is gone; its leader is reported last, or was
 * never ours.
 */
static void handle_end(struct tracer *tracer, struct task *task, int status)
{
	struct tracee *tracee = task->tracee;

	task->end_status = status;
	if (tracee)
		scratch_lose_task(tracee->space, task->tid);
	task_free(tracer, task);
	if (!tracee || tracee->tasks || tracer->keeps_tracees)
		return;
	tracer->client->ops->tracee_end(tracer->client, tracee, status);
	if (WIFSIGNALED(status))
		child_keep_space(tracer, tracee->space);
	tracee_free(tracer, tracee);
}

/*
 * The stop of a leader, kept while one of its threads called execve: the
 * number belongs to that thread now, which stands in its exec stop.
 */
static bool is_superseded(const struct task *task)
{
	siginfo_t info;

	return task->tid == task->tracee->pid &&
	       !ptrace_get_siginfo(task->tid, &info) &&
	       info.si_code == (SIGTRAP | PTRACE_EVENT_EXEC << 8);
}

/* See SPACE_TRAP_SEEN. */
static void mark_own_trap(const struct task *task, int signal)
{
	const struct space *space = task->tracee->space;
	siginfo_t info;

	if (signal != SIGTRAP || !space->awaited ||
	    ptrace_get_siginfo(task->tid, &info) ||
	    info.si_code != space->arch->trap_code)
		return;
	info.si_errno = SPACE_TRAP_SEEN;
	if (ptrace_set_siginfo(task->tid, &info))
		diag_debug(DIAG_TRAP, "%d: its int3 isn't marked",
			   (int)task->tid);
}

static void handle_signal(struct tracer *tracer, struct task *task, int signal)
{
	if (is_superseded(task)) {
		task->action = RESUME_HOLD;
		return;
	}
	if (patch_catch(task, signal))
		return;
	if (sources_signal(tracer, task, signal)) {
		(void)syscall_restart_wait(task, task->tracee->space->arch);
		return;
	}
	task_leave_scratch(task);
	mark_own_trap(task, signal);
	task->deliver = signal;
	tracer->client->ops->signal(tracer->client, task, signal);
}

static void handle_interrupt(struct tracer *tracer, struct task *task)
{
	if (task->asked && !task->errant && !tracer->leaving &&
	    sources_stand(tracer, task))
		task->errant = true;
	else if (task->asked)
		task->waited =
			syscall_restart_wait(task, task->tracee->space->arch);
	task->asked = 0;
}

static void handle_syscall(struct tracer *tracer, struct task *task)
{
	if (!syscall_handle(tracer, task) && is_superseded(task))
		task->action = RESUME_HOLD;
}

static void handle_stop(struct tracer *tracer, struct task *task,
			const struct stop *stop)
{
	switch (stop->kind) {
	case STOP_TRAP:
		if (!hit_handle(task))
			handle_signal(tracer, task, stop->signal);
		break;
	case STOP_SIGNAL:
		handle_signal(tracer, task, stop->signal);
		break;
	case STOP_GROUP:
		task->action = RESUME_LISTEN;
		break;
	case STOP_FORK:
	case STOP_VFORK:
	case STOP_CLONE:
		settle_waiting_child(tracer,
				     child_announced(tracer, task, stop->kind));
		break;
	case STOP_VFORK_DONE:
		child_released_parent(task);
		break;
	case STOP_EXEC:
		child_executed(tracer, task);
		break;
	case STOP_INTERRUPT:
		handle_interrupt(tracer, task);
		break;
	case STOP_SYSCALL:
		handle_syscall(tracer, task);
		break;
	case STOP_OTHER:
	case STOP_EXITED:
	case STOP_KILLED:
		break;
	}
}

/*
 * An int3 that was run may be reported after this stop only: let it come, it
 * is rewound then. And whoever is let go at the entry of a system call is
 * woken as by a signal (__ptrace_unlink(), kernel/ptrace.c), and may end it
 * with EINTR: it goes on, into a stop of ours, which may be undone.
 */
static bool can_be_let_go(struct task *task)
{
	if (task->entering && task_ask_to_stop(task))
		return false;
	return !ptrace_has_queued_trap(task->tid);
}

/* A stop whose task is known to belong to somebody. */
static void handle_known(struct tracer *tracer, struct task *task,
			 const struct stop *stop)
{
	task->action = tracer->leaving ? RESUME_DETACH : RESUME_RUN;
	task->deliver = 0;
	if (task->newborn && !child_first_stop(tracer, task)) {
		task->action = RESUME_HOLD;
		return;
	}
	task->entering = false;
	handle_stop(tracer, task, stop);
	if (task->asked)
		task->asked--;
	if (!tracer->leaving)
		return;
	task->action = can_be_let_go(task) ? RESUME_DETACH : RESUME_RUN;
}

/* Handles one status; the time is when it was fetched. */
static void loop_handle(struct tracer *tracer, pid_t tid, int status,
			uint64_t time)
{
	struct stop stop = stop_classify(status);
	struct task *task = task_find(tracer, tid);
	bool ended = stop.kind == STOP_EXITED || stop.kind == STOP_KILLED;

	diag_debug(DIAG_STOP, "%d: %s %d", (int)tid, stop_name(stop.kind),
		   stop.kind == STOP_EXITED ? stop.status : stop.signal);
	if (!task && ended)
		return; /* a helper of ours, or superseded by an exec */
	if (!task) {
		task = task_new(tracer, tid, NULL);
		task->newborn = true;
	}
	tracer->counts.stops++;
	if (task->tracee)
		task->tracee->stops++;
	follow_stop(&tracer->processor, tid);
	task->stopped = true;
	if (task->queued)
		task->queued--;
	/* It can't have moved on by itself: it has died, or called execve. */
	if (task->queued && !ended)
		return;
	task->stop_time = time;
	task->stops.count++;
	if (stop.kind == STOP_TRAP)
		price_way(tracer, task, time);
	book_way(tracer, task);
	task->place = 0;
	task->waited = false;
	if (!task->put_back)
		task_forget_regs(task);
	if (ended) {
		handle_end(tracer, task, status);
		return;
	}
	/* A leader that has ended is reported late: this one lives. */
	if (task->tracee && !task->tracee->borrows)
		space_use_task(task->tracee->space, tid);
	handle_known(tracer, task, &stop);
	settle(tracer, task);
}

void loop_settle_orphans(struct tracer *tracer)
{
	struct task *orphan;

	while (child_is_held(tracer) && (orphan = child_adopt_orphan(tracer)))
		settle_waiting_child(tracer, orphan);
}

/*
 * Many traps are planted while the process runs. Whoever runs into one waits
 * for the rest of a slice; and as long as that lasts, the others go on before
 * the next one.
 */
#define SLICE (NS_PER_SECOND / 100)

/* … or until it is looked whether any may be planted. */
#define MOMENT (NS_PER_SECOND / 10000)

/* One process's keep all others' out: they begin together. */
static bool are_kept_out(struct tracer *tracer, uint64_t now)
{
	struct tracee *tracee, *next;
	bool kept = false;

	HASH_ITER(hh, tracer->tracees, tracee, next)
		if (tracee->space->plants)
			kept |= sources_keep_traps_out(tracer, tracee->space,
						       now);
	return kept;
}

static void plant_slice(struct tracer *tracer)
{
	uint64_t now = clock_now();
	struct tracee *tracee, *next;
	bool waits;

	if (now < tracer->plants_next)
		return;
	tracer->plants = false;
	waits = are_kept_out(tracer, now);
	HASH_ITER(hh, tracer->tracees, tracee, next)
		if (!waits && tracee->space->plants &&
		    trap_plant_slice(tracee->space, now + SLICE))
			tracer->plants = true;
	tracer->gathering = waits;
	tracer->plants_next = clock_now() + (waits ? MOMENT : SLICE);
	tracer->plants |= waits;
}

/* The next status, if there is one by the time of the next slice. */
static pid_t wait_while_planting(struct tracer *tracer, int *status_ret)
{
	const struct timespec moment = { .tv_nsec = 100000 };
	pid_t tid = waitpid(-1, status_ret, __WALL | WNOHANG);

	plant_slice(tracer);
	if (tid)
		return tid;
	if (tracer->plants)
		nanosleep(&moment, NULL);
	errno = EINTR;
	return -1;
}

/*
 * The kernel sends SIGCHLD with each status. By default that means nothing and
 * is thrown away, but not while it is blocked.
 */
static pid_t wait_until(uint64_t due, int *status_ret)
{
	const uint64_t now = clock_now(), ns = due > now ? due - now : 0;
	const struct timespec rest = { .tv_sec = ns / NS_PER_SECOND,
				       .tv_nsec = ns % NS_PER_SECOND };
	sigset_t child, own;
	pid_t tid;
	int err = EINTR;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &child, &own);
	tid = waitpid(-1, status_ret, __WALL | WNOHANG);
	if (tid < 0)
		err = errno;
	else if (!tid)
		(void)sigtimedwait(&child, NULL, &rest);
	pthread_sigmask(SIG_SETMASK, &own, NULL);
	errno = err;
	return tid > 0 ? tid : -1;
}

/*
 * The next status; while a child is held, which nobody may ever tell of again,
 * not for longer than a moment.
 */
static pid_t wait_for_any(struct tracer *tracer, int *status_ret)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	const uint64_t due = sources_due(tracer);
	pid_t tid;

	if (tracer->plants)
		return wait_while_planting(tracer, status_ret);
	if (!child_is_held(tracer))
		return due ? wait_until(due, status_ret) :
			     waitpid(-1, status_ret, __WALL);
	tid = waitpid(-1, status_ret, __WALL | WNOHANG);
	if (!tid) {
		nanosleep(&moment, NULL);
		loop_settle_orphans(tracer);
		errno = EINTR;
		tid = -1;
	}
	return tid;
}

/*
 * Every status that is there is fetched now and then, so that busy tasks, which
 * waitpid always finds first, can't starve the others for longer than this many
 * stops. (It looks at every task, so it isn't done each time.)
 */
#define UNFAIR_STOPS 8

/* Where handling them takes this long, whoever has stopped meanwhile comes along. */
#define UNFAIR_TIME (NS_PER_SECOND / 1000)

/*
 * waitpid(-1) goes through all tasks for each status; for one of them it needs
 * no search. So where there are many, each is asked: with 3,000 busy threads
 * that takes 1 ms for hundreds of stops, and not 0.2 ms for each.
 */
#define MANY_TASKS 512

static size_t fetch_of_each(struct tracer *tracer)
{
	struct task *task, *next;
	size_t found = 0;
	int status;

	HASH_ITER(hh, tracer->tasks, task, next) {
		if (task->stopped ||
		    waitpid(task->tid, &status, __WALL | WNOHANG) <= 0)
			continue;
		tracer_queue_stop(tracer, task->tid, status);
		found++;
	}
	return found;
}

size_t loop_fetch_all(struct tracer *tracer)
{
	size_t found = 0;
	int status;
	pid_t tid;

	if (HASH_COUNT(tracer->tasks) > MANY_TASKS)
		found = fetch_of_each(tracer);
	/* New ones have no number that we know; they come last. */
	while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
		tracer_queue_stop(tracer, tid, status);
		found++;
	}
	return found;
}

/* After how many stops it pays, when so many were found the last time. */
static size_t next_fetch(const struct tracer *tracer, size_t found)
{
	const size_t count = HASH_COUNT(tracer->tasks);

	if (count <= MANY_TASKS)
		return UNFAIR_STOPS;
	return found > count / 32 ? 1 : count / 32;
}

void loop_handle_queued(struct tracer *tracer)
{
	size_t i;

	/* More may be queued while one is handled. */
	for (i = 0; i < tracer->queue_count; i++) {
		struct queued_stop stop = tracer->queue[i];

		loop_handle(tracer, stop.tid, stop.status, stop.time);
	}
	tracer->queue_count = 0;
}

/* False when there is none. */
static bool fetch_stop(struct tracer *tracer, idtype_t which, pid_t tid)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(which, (id_t)tid, &info, WSTOPPED | WNOHANG | __WALL) ||
	    !info.si_pid)
		return false;
	/* Not a child of our own that somebody has stopped. */
	if (info.si_code == CLD_TRAPPED)
		tracer_queue_stop(tracer, info.si_pid,
				  info.si_status << 8 | 0x7f);
	return true;
}

static bool is_elsewhere(const struct task *task, const struct space *space)
{
	return task && task->tracee && task->tracee->space != space;
}

/* Those of a task that isn't known, or of the space, are left if there is one. */
static void handle_stops(struct tracer *tracer, const struct space *except)
{
	size_t i, kept = 0;

	for (i = 0; i < tracer->queue_count; i++) {
		struct queued_stop stop = tracer->queue[i];

		if (WIFSTOPPED(stop.status) &&
		    (!except ||
		     is_elsewhere(task_find(tracer, stop.tid), except)))
			loop_handle(tracer, stop.tid, stop.status, stop.time);
		else
			tracer->queue[kept++] = stop;
	}
	tracer->queue_count = kept;
}

void loop_serve(struct tracer *tracer)
{
	while (fetch_stop(tracer, P_ALL, 0))
		;
	handle_stops(tracer, NULL);
}

void loop_serve_others(struct tracer *tracer, const struct space *space)
{
	struct task *task, *next;

	HASH_ITER(hh, tracer->tasks, task, next)
		if (!task->stopped && is_elsewhere(task, space))
			(void)fetch_stop(tracer, P_PID, task->tid);
	handle_stops(tracer, space);
}

bool loop_once(struct tracer *tracer)
{
	int status;
	pid_t tid = wait_for_any(tracer, &status);

	if (tid < 0)
		return errno == EINTR;
	tracer_queue_stop(tracer, tid, status);
	loop_handle_queued(tracer);
	return true;
}

#define LATE_CHILD (NS_PER_SECOND / 10)

/*
 * All have ended; one that was killed may have had a child just then, which is
 * ours and hasn't stopped yet. (Children that aren't tracees don't count: we
 * may have inherited some.)
 */
static bool has_late_child(struct tracer *tracer)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	uint64_t deadline = clock_now() + LATE_CHILD;
	int status;
	pid_t tid = 0;

	while (tracer->killed[0] && !tid && clock_now() < deadline) {
		tid = waitpid(-1, &status, __WALL | WNOHANG);
		if (!tid)
			nanosleep(&moment, NULL);
	}
	if (tid > 0)
		tracer_queue_stop(tracer, tid, status);
	loop_handle_queued(tracer);
	return tracer->tracees || tracer->tasks;
}

/* When all were fetched last, and what has been done since. */
struct fairness {
	size_t stops, most;
	uint64_t begun;
	bool slow;
};

static void fetch_fairly(struct tracer *tracer, struct fairness *fair)
{
	if (HASH_COUNT(tracer->tasks) > 1 &&
	    (++fair->stops >= fair->most || fair->slow)) {
		fair->most = next_fetch(tracer, loop_fetch_all(tracer));
		fair->stops = 0;
	}
	fair->begun = clock_now();
}

int loop_run(struct tracer *tracer, const volatile sig_atomic_t *wake)
{
	struct fairness fair = { .most = UNFAIR_STOPS, .begun = clock_now() };

	while (tracer->tracees || tracer->tasks || has_late_child(tracer)) {
		int status;
		pid_t tid;

		if (*wake) {
			sources_drain(tracer);
			return -EINTR;
		}
		sources_drain_due(tracer);
		fair.slow = clock_now() - fair.begun > UNFAIR_TIME;
		tid = wait_for_any(tracer, &status);
		if (tid < 0 && errno == EINTR)
			continue;
		if (tid < 0)
			break;
		tracer_queue_stop(tracer, tid, status);
		fetch_fairly(tracer, &fair);
		loop_handle_queued(tracer);
	}
	child_drop_spaces(tracer);
	return 0;
}
