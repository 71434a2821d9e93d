/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/children.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "sysdeps/linux/clone.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/seize.h"

/*
 * The traps in a child's copy of the memory must not stay: whoever runs into
 * one without a tracer dies. Where they can't be removed (the program has made
 * itself undumpable) the child stays traced, to be helped past them.
 */
static void keep_child(struct tracee *child, struct space *parent)
{
	diag(DIAG_WARNING, DIAG_SESSION,
	     "child %d: its memory can't be written: its calls are not shown, "
	     "and it stays traced until its next program",
	     (int)child->pid);
	trap_inherit(child->space, parent);
	child->space->arch = parent->arch;
	child->muted = true;
	child->copied = false;
}

/*
 * Whoever walks over stacks in the child finds what he would without us. So they
 * are put back before the jumps are taken out that do so.
 */
static void put_returns_back(const struct space *parent, struct tracee *child)
{
	if (parent->replaced)
		parent->replaced->put_back(parent->replaced,
					   &child->space->memory.memory);
}

/* Without descriptors it is done when the child has stopped. */
static void clean_child(struct tracee *child, struct space *parent,
			pid_t forker)
{
	int err;

	put_returns_back(parent, child);
	err = trap_clean_copy(parent, &child->space->memory, forker);
	if (err == -EMFILE || err == -ENFILE || err == -ENOMEM)
		child->unclean = space_get(parent);
	else if (err && err != -ERR_GONE)
		keep_child(child, parent);
}

static void clean_stopped_child(struct tracee *child)
{
	struct space *parent = child->unclean;
	int err;

	if (!parent)
		return;
	child->unclean = NULL;
	put_returns_back(parent, child);
	err = trap_clean_stopped_copy(parent, &child->space->memory);
	if (err && err != -ERR_GONE)
		keep_child(child, parent);
	space_put(parent);
}

/* A descriptor is kept for those only that are followed. */
static struct tracee *new_copy(struct tracer *tracer, struct space *original,
			       pid_t forker, pid_t pid)
{
	struct tracee *child = tracee_new(tracer, pid, space_new(tracer, pid));

	child->copied = true;
	child->space->awaited = original->awaited;
	clean_child(child, original, forker);
	if (!tracer->follow || space_bind(child->space))
		procmem_fini(&child->space->memory);
	else if (original->awaited)
		space_await(child->space, original->awaited);
	return child;
}

static struct tracee *new_sharer(struct tracer *tracer, struct tracee *parent,
				 pid_t pid)
{
	struct tracee *child =
		tracee_new(tracer, pid, space_get(parent->space));

	child->muted = !tracer->follow || parent->muted;
	child->borrows = true;
	return child;
}

static struct tracee *new_process(struct tracer *tracer, struct task *parent,
				  pid_t pid, bool shares_memory)
{
	struct tracee *family = parent->tracee;
	struct tracee *child = shares_memory ? new_sharer(tracer, family, pid) :
					       new_copy(tracer, family->space,
							parent->tid, pid);

	child->started = family->started;
	return child;
}

static struct clone_sharing sharing_of(struct task *parent, enum stop_kind kind)
{
	struct regs *regs = task_regs(parent);
	struct memory *memory = &parent->tracee->space->memory.memory;
	struct clone_sharing sharing;

	if (regs && clone_sharing_of(regs, memory, &sharing))
		return sharing;
	/* Most likely; what is cleaned wrongly is lost, not destroyed. */
	return (struct clone_sharing){ kind == STOP_CLONE, kind != STOP_FORK,
				       false };
}

/*
 * Until its child is done the parent can't be stopped, and so not be let go:
 * it must outlive our end.
 */
static void await_release(struct task *parent)
{
	parent->in_vfork = true;
	if (parent->tracee->started)
		(void)ptrace_set_options(parent->tid, SEIZE_OPTIONS);
}

/*
 * It was killed before its first stop, and its end was reported before its
 * parent's event: nothing more will be heard of it.
 */
static bool is_over(pid_t tid)
{
	return kill(tid, 0) && errno == ESRCH;
}

/*
 * One whose first stop came before its parent's event was let go of there, when
 * we are leaving; nothing more will be heard of it, either. NULL then.
 */
static struct task *begin_child(struct tracer *tracer, pid_t tid)
{
	struct task *task = task_new(tracer, tid, NULL);

	task->newborn = true;
	task->leaving = tracer->leaving;
	if (!task->leaving || task_ask_to_stop(task))
		return task;
	task_free(tracer, task);
	return NULL;
}

struct task *child_announced(struct tracer *tracer, struct task *parent,
			     enum stop_kind kind)
{
	struct tracee *family = parent->tracee;
	struct clone_sharing sharing = sharing_of(parent, kind);
	unsigned long message;
	struct task *task;

	if (ptrace_get_event_message(parent->tid, &message))
		return NULL;
	if (kind == STOP_VFORK)
		await_release(parent);
	task = task_find(tracer, message);
	if (!task && is_over(message))
		return NULL;
	if (!task && !(task = begin_child(tracer, message)))
		return NULL;
	if (task->tracee)
		return task;
	if (!sharing.thread)
		family = new_process(tracer, parent, message, sharing.memory);
	tracee_adopt(family, task);
	if (!sharing.thread && tracer->follow && !family->muted)
		tracer->client->ops->fork(tracer->client, parent, family);
	return task;
}

/*
 * A process that has a copy of its parent's space: once it is clean, with -f it
 * is seen like one that is attached to, else let go.
 */
static void begin_copy(struct tracer *tracer, struct task *task)
{
	struct tracee *tracee = task->tracee;
	bool bound = procmem_is_open(&tracee->space->memory);

	clean_stopped_child(tracee);
	if (tracee->muted)
		return;
	tracee->copied = false;
	tracer->counts.unfollowed += tracer->follow && !bound;
	if (!tracer->follow || !bound || tracer->leaving) {
		space_await_none(tracee->space);
		task->action = RESUME_DETACH;
		return;
	}
	if (!linkmap_start(tracee->space, false))
		trap_plant_deferred(tracee->space);
	else
		diag(DIAG_WARNING, DIAG_SESSION,
		     "child %d: its program can't be read; its calls are not "
		     "shown",
		     (int)tracee->pid);
}

/*
 * A thread is known by its process, before its parent's event is read. Of a
 * process only the event tells what it shares.
 */
static bool find_family(struct tracer *tracer, struct task *task)
{
	struct procfs_status status;
	struct tracee *tracee;

	if (procfs_status(task->tid, &status))
		return false;
	tracee = tracee_find(tracer, status.tgid);
	if (!tracee)
		return false;
	tracee_adopt(tracee, task);
	return true;
}

bool child_first_stop(struct tracer *tracer, struct task *task)
{
	if (!task->tracee && !find_family(tracer, task)) {
		tracer->orphans += !task->held;
		task->held = true;
		return false;
	}
	task->newborn = false;
	if (task->held)
		tracer->orphans--;
	task->held = false;
	if (task->tracee->copied)
		begin_copy(tracer, task);
	return true;
}

/* How many traps that the space has (or had) a child's memory shows. */
static size_t count_copies(struct space *space, pid_t child)
{
	struct procmem memory;
	struct trap *trap, *next;
	size_t count = 0;

	procmem_init(&memory, child);
	HASH_ITER(hh, space->traps, trap, next) {
		uint32_t word = 0;

		if (!memory_read(&memory.memory, trap->address, &word,
				 space->arch->trap_size) &&
		    word == space->arch->trap)
			count++;
	}
	procmem_fini(&memory);
	return count;
}

static void take_better(struct space *space, pid_t child, struct space **best,
			size_t *most)
{
	size_t count = space ? count_copies(space, child) : 0;

	if (count <= *most)
		return;
	*most = count;
	*best = space;
}

/* Its parent's: the one that explains most of what it has. */
static struct space *find_original(struct tracer *tracer, pid_t child)
{
	struct tracee *tracee, *next;
	struct space *best = NULL;
	size_t most = 0, i;

	for (i = 0; i < KILLED_SPACES; i++)
		take_better(tracer->killed[i], child, &best, &most);
	HASH_ITER(hh, tracer->tracees, tracee, next)
		take_better(tracee->space, child, &best, &most);
	return best;
}

void child_keep_space(struct tracer *tracer, struct space *space)
{
	struct space **oldest =
		&tracer->killed[tracer->killed_next++ % KILLED_SPACES];

	if (*oldest)
		space_put(*oldest);
	*oldest = space_get(space);
}

void child_drop_spaces(struct tracer *tracer)
{
	size_t i;

	for (i = 0; i < KILLED_SPACES; i++) {
		if (tracer->killed[i])
			space_put(tracer->killed[i]);
		tracer->killed[i] = NULL;
	}
}

/* A parent that lives tells of its child within the same system call. */
#define ORPHAN_AGE (NS_PER_SECOND / 2)

static bool is_orphan(const struct tracer *tracer, const struct task *task)
{
	return !task->tracee && task->newborn && task->stopped &&
	       (tracer->leaving || clock_now() - task->stop_time > ORPHAN_AGE);
}

struct task *child_adopt_orphan(struct tracer *tracer)
{
	struct task *task, *next;

	HASH_ITER(hh, tracer->tasks, task, next) {
		struct space *original;

		if (!is_orphan(tracer, task))
			continue;
		original = find_original(tracer, task->tid);
		if (!original)
			continue;
		tracee_adopt(new_copy(tracer, original, 0, task->tid), task);
		return task;
	}
	return NULL;
}

bool child_is_held(const struct tracer *tracer)
{
	return tracer->orphans != 0;
}

void child_released_parent(struct task *parent)
{
	parent->in_vfork = false;
	if (parent->tracee->started)
		(void)ptrace_set_options(parent->tid,
					 SEIZE_OPTIONS | PTRACE_O_EXITKILL);
}

static void tell_successor(struct tracer *tracer, struct task *leader)
{
	unsigned long former;
	struct task *task;

	if (ptrace_get_event_message(leader->tid, &former))
		return;
	task = task_find(tracer, former);
	if (task && task != leader && task->tracee == leader->tracee)
		tracer->client->ops->succeed(tracer->client, task, leader);
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
	unsigned mode;

	if (geteuid() == 0 || !procfs_exe_mode(tracee->pid, &mode) ||
	    !(mode & (S_ISUID | S_ISGID)))
		return;
	diag(DIAG_WARNING, DIAG_SESSION,
	     "process %d: the program is set-%s-ID, but gets no privileges "
	     "while an ordinary user traces it: run calltrap as root, with -u",
	     (int)tracee->pid, mode & S_ISUID ? "user" : "group");
}

static int look_at_program(struct task *task)
{
	struct space *space = task->tracee->space;
	int err = space_bind(space);

	if (!err)
		err = linkmap_start(space, true);
	if (err)
		return err;
	task->errant = sources_begin(space->tracer, task);
	if (!task->errant)
		trap_plant_deferred(space);
	return 0;
}

static const char *why_unread(int error)
{
	switch (error) {
	case -EMFILE:
		return " (too few descriptors: ulimit -n)";
	case -ENOEXEC:
		return " (it is for a processor that calltrap doesn't know)";
	default:
		return "";
	}
}

void child_executed(struct tracer *tracer, struct task *task)
{
	struct tracee *tracee = task->tracee;
	struct space *old = tracee->space;
	int err;

	tell_successor(tracer, task);
	drop_other_tasks(tracer, task);
	task->visit_count = 0;
	task->in_vfork = false;
	sources_exec(tracer, task);
	tracer->client->ops->exec(tracer->client, task);
	cost_begin_anew(tracer, task);
	space_clean_after_exec(old);
	tracee->space = space_new(tracer, tracee->pid);
	tracee->copied = tracee->borrows = false;
	space_put(old);
	if (tracee->muted || tracer->leaving) {
		task->action = RESUME_DETACH;
		return;
	}
	tell_lost_privileges(tracee);
	err = look_at_program(task);
	if (err)
		diag(DIAG_WARNING, DIAG_SESSION,
		     "process %d: the new program can't be read%s; its calls "
		     "are not shown",
		     (int)tracee->pid, why_unread(err));
}
