/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_ATTACH_H
#define CALLTRAP_ATTACH_H

#include "sysdeps/linux/procfs.h"
#include "tracee/tracer.h"

/*
 * Attaches to all threads of a running process, without stopping one that
 * waits: they are seized, and traps are written while they run, once no child
 * can come that isn't traced (tracee/unborn.h). When it can't be traced nothing
 * was touched, and message_ret says why and what to do (to be freed).
 */
int attach(struct tracer *tracer, pid_t pid, char **message_ret) MUST_CHECK;

/*
 * All that are attached to together are so between these two. Those that are
 * ours by then don't stop at system calls before the last one is, for nobody
 * looks after them while another one is read; who stops otherwise goes on when
 * that has been read.
 */
void attach_begin(struct tracer *tracer);
void attach_end(struct tracer *tracer);

/* Seizes all tasks of a process that aren't ours yet. */
int attach_seize(struct tracee *tracee) MUST_CHECK;

/*
 * Why a process can't be traced, before having tried, or NULL; and the same
 * when PTRACE_SEIZE has said so: a negative errno. To be freed.
 */
char *attach_refuse(pid_t pid);
char *attach_explain(pid_t pid, int error);

/* What the one has who traces. */
struct attach_rights {
	uid_t uid; /* the effective one */
	bool able; /* CAP_SYS_PTRACE */
	int yama;  /* /proc/sys/kernel/yama/ptrace_scope, -1 without */
};

/*
 * Why a process can't be traced, from what /proc says of it, before and
 * (error: what PTRACE_SEIZE said, or 0; -ERR_GONE: it is ending) after having
 * tried. NULL when there
 * is no reason to be seen. A pure function; the result is to be freed.
 */
char *attach_diagnose(pid_t pid, const struct procfs_status *status,
		      const char *tracer_name, const struct attach_rights *own,
		      int error);

#endif
