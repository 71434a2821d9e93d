/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/tracer.h"

#include <stdlib.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/children.h"
#include "tracee/hit.h"

void tracer_init(struct tracer *tracer, struct tracer_client *client,
		 bool follow)
{
	*tracer = (struct tracer){ .client = client, .follow = follow };
	tracer->images = image_cache_new();
	follow_init(&tracer->processor);
	tracer->guardian = guardian_start();
}

void tracer_fini(struct tracer *tracer)
{
	struct tracee *tracee, *next;
	struct task *task, *next_task;

	child_drop_spaces(tracer);
	HASH_ITER(hh, tracer->tracees, tracee, next) {
		while (tracee->tasks)
			task_free(tracer, tracee->tasks);
		tracee_free(tracer, tracee);
	}
	HASH_ITER(hh, tracer->tasks, task, next_task)
		task_free(tracer, task);
	image_cache_free(tracer->images);
	guardian_dismiss(tracer->guardian);
	free(tracer->queue);
}

/* The SIGTRAP is ours now: the kernel has forgotten it. */
static void take_over(struct tracer *tracer, struct task *task)
{
	guardian_mark_task(tracer->guardian, task->watch, true);
	if (task->tracee && !task->newborn)
		hit_put_back(task);
	if (task->put_back)
		guardian_mark_task(tracer->guardian, task->watch, false);
}

void tracer_queue_stop(struct tracer *tracer, pid_t tid, int status)
{
	struct task *task = task_find(tracer, tid);

	tracer->queue = xgrow(tracer->queue, tracer->queue_count,
			      &tracer->queue_room, sizeof(*tracer->queue));
	tracer->queue[tracer->queue_count++] =
		(struct queued_stop){ tid, status, clock_now() };
	/* It doesn't run, and is not to be waited for. */
	if (!task)
		return;
	if (!task->stopped)
		task->stops_before = task->stops;
	task->queued++;
	task->stopped = true;
	task->put_back = false;
	if (WIFSTOPPED(status) && status >> 8 == SIGTRAP)
		take_over(tracer, task);
}

void tracer_unqueue_step(struct tracer *tracer, struct task *task)
{
	struct queued_stop *last = &tracer->queue[tracer->queue_count - 1];
	struct stop stop = stop_classify(last->status);
	siginfo_t info;

	if (last->tid != task->tid || stop.kind != STOP_TRAP ||
	    ptrace_get_siginfo(task->tid, &info) || info.si_code == SI_KERNEL)
		return;
	tracer->queue_count--;
	task->queued--;
}

struct regs *task_regs(struct task *task)
{
	if (!task->regs_known) {
		if (ptrace_get_regs(task->tid, &task->regs))
			return NULL;
		task->regs_known = true;
	}
	return &task->regs;
}

void task_forget_regs(struct task *task)
{
	task->regs_known = task->regs_changed = task->ip_changed = false;
}

bool task_ask_to_stop(struct task *task)
{
	if (ptrace_interrupt(task->tid))
		return false;
	task->asked = 2;
	return true;
}

struct task *task_find(struct tracer *tracer, pid_t tid)
{
	struct task *task;

	HASH_FIND_INT(tracer->tasks, &tid, task);
	return task;
}

struct task *task_new(struct tracer *tracer, pid_t tid, struct tracee *tracee)
{
	struct task *task = xcalloc(1, sizeof(*task));

	task->tid = tid;
	task->watch = -1;
	cost_begin(task);
	HASH_ADD_INT(tracer->tasks, tid, task);
	if (tracee)
		tracee_adopt(tracee, task);
	return task;
}

void tracee_adopt(struct tracee *tracee, struct task *task)
{
	struct tracer *tracer = tracee->space->tracer;

	task->tracee = tracee;
	task->watch =
		guardian_add_task(tracer->guardian, tracee->pid, task->tid);
	task->next = tracee->tasks;
	tracee->tasks = task;
	tracer->client->ops->task_begin(tracer->client, task);
	sources_task_begin(tracer, task);
}

void task_free(struct tracer *tracer, struct task *task)
{
	cost_keep(tracer, task);
	if (task->tracee) {
		struct task **link = &task->tracee->tasks;

		sources_task_end(tracer, task);
		tracer->client->ops->task_end(tracer->client, task);
		while (*link != task)
			link = &(*link)->next;
		*link = task->next;
		space_lose_task(task->tracee->space, task->tid);
	}
	tracer->orphans -= task->held;
	guardian_drop_task(tracer->guardian, task->watch);
	HASH_DEL(tracer->tasks, task);
	free(task);
}

struct tracee *tracee_find(struct tracer *tracer, pid_t pid)
{
	struct tracee *tracee;

	HASH_FIND_INT(tracer->tracees, &pid, tracee);
	return tracee;
}

struct tracee *tracee_new(struct tracer *tracer, pid_t pid, struct space *space)
{
	struct tracee *tracee = xcalloc(1, sizeof(*tracee));

	tracee->pid = pid;
	tracee->space = space;
	HASH_ADD_INT(tracer->tracees, pid, tracee);
	return tracee;
}

void tracee_free(struct tracer *tracer, struct tracee *tracee)
{
	HASH_DEL(tracer->tracees, tracee);
	if (tracee->unclean)
		space_put(tracee->unclean);
	space_put(tracee->space);
	free(tracee);
}
