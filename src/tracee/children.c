/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/children.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/ptrace.h"

/*
 * A new process. It shares its parent's space (vfork, clone with CLONE_VM) or
 * has a copy, in which our int3s must not stay: whoever runs into one without
 * a tracer dies.
 */
static struct tracee *new_process(struct tracer *tracer, struct task *parent,
				  pid_t pid)
{
	struct space *space = parent->tracee->space;
	struct tracee *child;

	if (procfs_same_space(parent->tid, pid) > 0) {
		child = tracee_new(tracer, pid, space_get(space));
		child->muted = !tracer->follow || parent->tracee->muted;
	} else {
		struct space *copy = space_new(tracer, pid);

		(void)trap_clean_copy(space, &copy->memory);
		child = tracee_new(tracer, pid, copy);
		child->copied = true;
	}
	child->started = parent->tracee->started;
	return child;
}

/* Makes sure that the task has a tracee; parent may be NULL. */
static bool find_family(struct tracer *tracer, struct task *parent,
			struct task *task)
{
	struct procfs_status status;
	struct tracee *tracee;

	if (procfs_status(task->tid, &status)) {
		/* Dead already: its exit will say so. */
		if (!parent)
			return false;
		status.tgid = parent->tracee->pid;
	}
	tracee = tracee_find(tracer, status.tgid);
	if (!tracee && !parent)
		return false;
	if (!tracee)
		tracee = new_process(tracer, parent, status.tgid);
	tracee_adopt(tracee, task);
	return true;
}

struct task *child_announced(struct tracer *tracer, struct task *parent,
			     enum stop_kind kind)
{
	unsigned long message;
	struct task *task;

	if (ptrace_get_event_message(parent->tid, &message))
		return NULL;
	task = task_find(tracer, message);
	if (!task) {
		task = task_new(tracer, message, NULL);
		task->newborn = true;
	}
	if (!task->tracee)
		(void)find_family(tracer, parent, task);
	if (kind == STOP_VFORK)
		parent->in_vfork = true;
	if (task->tracee && task->tracee != parent->tracee && tracer->follow &&
	    !task->tracee->muted)
		tracer->client->ops->fork(tracer->client, parent,
					  task->tracee);
	return task;
}

/*
 * A process that has a copy of its parent's space: it is clean; with -f it is
 * seen like one that is attached to, else let go.
 */
static void begin_copy(struct tracer *tracer, struct task *task)
{
	struct tracee *tracee = task->tracee;

	tracee->copied = false;
	if (!tracer->follow || tracer->leaving) {
		task->wish = WISH_DETACH;
		return;
	}
	if (linkmap_start(tracee->space, false))
		diag(DIAG_WARNING, DIAG_SESSION,
		     "child %d: its program can't be read; its calls are not "
		     "shown",
		     (int)tracee->pid);
}

bool child_first_stop(struct tracer *tracer, struct task *task)
{
	if (!task->tracee && !find_family(tracer, NULL, task))
		return false;
	task->newborn = false;
	if (task->tracee->copied)
		begin_copy(tracer, task);
	return true;
}

void child_released_parent(struct task *parent)
{
	parent->in_vfork = false;
}

/*
 * execve made the calling task the leader: the others are dead, and if it
 * wasn't the leader before, its old number has gone without a word
 * (ptrace(2), "execve(2) under ptrace").
 */
static void drop_other_tasks(struct tracer *tracer, struct task *leader)
{
	struct tracee *tracee = leader->tracee;
	struct task *task, *next;

	for (task = tracee->tasks; task; task = next) {
		next = task->next;
		if (task != leader)
			task_free(tracer, task);
	}
}

/*
 * execve() gives no privileges to a program that is traced by somebody without
 * CAP_SYS_PTRACE: it runs on as its caller (bprm_creds_from_file(),
 * security/commoncap.c).
 */
static void tell_lost_privileges(const struct tracee *tracee)
{
	char link[64];
	struct stat st;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)tracee->pid);
	if (geteuid() == 0 || stat(link, &st) ||
	    !(st.st_mode & (S_ISUID | S_ISGID)))
		return;
	diag(DIAG_NOTE, DIAG_SESSION,
	     "process %d: the program is set-%s-ID, but gets no privileges "
	     "while an ordinary user traces it: run calltrap as root, with -u",
	     (int)tracee->pid, st.st_mode & S_ISUID ? "user" : "group");
}

void child_executed(struct tracer *tracer, struct task *task)
{
	struct tracee *tracee = task->tracee;
	struct space *old = tracee->space;

	drop_other_tasks(tracer, task);
	task->visit_count = 0;
	task->in_vfork = false;
	tracer->client->ops->exec(tracer->client, task);
	tracee->space = space_new(tracer, tracee->pid);
	tracee->copied = false;
	space_put(old);
	if (tracee->muted || tracer->leaving) {
		task->wish = WISH_DETACH;
		return;
	}
	tell_lost_privileges(tracee);
	if (linkmap_start(tracee->space, true))
		diag(DIAG_WARNING, DIAG_SESSION,
		     "process %d: the new program can't be read; its calls are "
		     "not shown",
		     (int)tracee->pid);
}
