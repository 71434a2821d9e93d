/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/attach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/seize.h"

/* New threads are attached by the kernel; this only guards against a ring. */
#define PASSES_MAX 1000

static char *diagnose_permission(pid_t pid, const struct procfs_status *status,
				 uid_t own_uid, int yama)
{
	if (own_uid && status->uids[0] != own_uid)
		return xasprintf("process %d (%s) belongs to another user "
				 "(uid %u): run calltrap as that user or as "
				 "root",
				 (int)pid, status->name, status->uids[0]);
	if (own_uid && yama > 0)
		return xasprintf("process %d (%s): the kernel allows tracing "
				 "of %s only "
				 "(/proc/sys/kernel/yama/ptrace_scope is %d): "
				 "start the program with calltrap, or run "
				 "calltrap as root",
				 (int)pid, status->name,
				 yama == 1 ? "one's own children" :
				 yama == 2 ? "what root traces" :
					     "nothing",
				 yama);
	if (yama == 3)
		return xasprintf("process %d (%s): tracing is switched off "
				 "until the next boot "
				 "(/proc/sys/kernel/yama/ptrace_scope is 3)",
				 (int)pid, status->name);
	return xasprintf("process %d (%s) can't be traced: it is not dumpable "
			 "(it was set-user-ID, or asked for it with prctl), or "
			 "a security module forbids it: run calltrap as root",
			 (int)pid, status->name);
}

char *attach_diagnose(pid_t pid, const struct procfs_status *status,
		      const char *tracer_name, uid_t own_uid, int yama,
		      int error)
{
	if (status->tracer)
		return xasprintf("process %d (%s) is already being traced by "
				 "process %d (%s): end that one first",
				 (int)pid, status->name, (int)status->tracer,
				 tracer_name ? tracer_name : "?");
	if (status->state == 'Z' || status->state == 'X')
		return xasprintf("process %d (%s) has ended already (it is a "
				 "zombie)",
				 (int)pid, status->name);
	if (!status->has_memory)
		return xasprintf("process %d (%s) is a kernel thread: it makes "
				 "no library calls",
				 (int)pid, status->name);
	if (error == -EPERM || error == -EACCES)
		return diagnose_permission(pid, status, own_uid, yama);
	if (error == -ERR_GONE)
		return xasprintf("process %d has just ended", (int)pid);
	if (error)
		return xasprintf("process %d (%s): %s", (int)pid, status->name,
				 strerror(-error));
	return NULL;
}

static int read_yama(void)
{
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%d", &scope) != 1)
		scope = -1;
	fclose(file);
	return scope;
}

static char *diagnose(pid_t pid, int error)
{
	struct procfs_status status, tracer;
	const char *name = NULL;

	if (procfs_status(pid, &status))
		return xasprintf("no process %d", (int)pid);
	/* The kernel names the thread. */
	if (status.tracer && !procfs_status(status.tracer, &tracer)) {
		name = tracer.name;
		status.tracer = tracer.tgid;
	}
	return attach_diagnose(pid, &status, name, geteuid(), read_yama(),
			       error);
}

/* Seizes what isn't ours yet; returns how many there were, or an error. */
static int seize_pass(struct tracee *tracee)
{
	struct tracer *tracer = tracee->space->tracer;
	pid_t *tids CLEANUP(xfree_cleanup) = NULL;
	size_t count, i;
	int added = 0;
	int err = procfs_tasks(tracee->pid, &tids, &count);

	if (err)
		return err;
	for (i = 0; i < count; i++) {
		if (task_find(tracer, tids[i]))
			continue;
		err = ptrace_seize(tids[i], SEIZE_OPTIONS);
		if (!err) {
			task_new(tracer, tids[i], tracee);
			added++;
		}
		/*
		 * -EPERM: ours already, by the clone event of a seized
		 * sibling; or a zombie leader. -ERR_GONE: it has ended.
		 */
	}
	return added ? added : tracee->tasks ? 0 : err;
}

static int seize_all(struct tracee *tracee)
{
	int pass, added = 1;

	for (pass = 0; pass < PASSES_MAX && added > 0; pass++)
		added = seize_pass(tracee);
	return added < 0 ? added : 0;
}

int attach(struct tracer *tracer, pid_t pid, char **message_ret)
{
	struct procfs_status status;
	struct tracee *tracee;
	int err;

	*message_ret = NULL;
	if (pid == getpid())
		*message_ret = xasprintf("process %d is calltrap itself",
					 (int)pid);
	else if (!procfs_status(pid, &status) && status.tgid != pid)
		*message_ret = xasprintf("%d is a thread of process %d: attach "
					 "to that (-p %d)",
					 (int)pid, (int)status.tgid,
					 (int)status.tgid);
	else
		*message_ret = diagnose(pid, 0);
	if (*message_ret)
		return -EPERM;
	tracee = tracee_new(tracer, pid, space_new(tracer, pid));
	err = seize_all(tracee);
	if (err || !tracee->tasks) {
		*message_ret = diagnose(pid, err ? err : -ERR_GONE);
		tracee_free(tracer, tracee);
		return err ? err : -ERR_GONE;
	}
	err = linkmap_start(tracee->space, false);
	if (err)
		*message_ret = xasprintf("process %d (%s): its program can't "
					 "be read: %s",
					 (int)pid, status.name,
					 err == -ERR_GONE ? "it has ended" :
							    strerror(-err));
	return err;
}
