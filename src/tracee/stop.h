/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_STOP_H
#define CALLTRAP_STOP_H

#include "base/types.h"

/* What a wait status says has happened to a task. */
enum stop_kind {
	STOP_TRAP,       /* SIGTRAP: an int3, a step, or sent by somebody */
	STOP_SIGNAL,     /* any other signal is about to be delivered */
	STOP_GROUP,      /* stopped by job control; .signal is which */
	STOP_INTERRUPT,  /* our own request, or a new task's first stop, or
			    the end of a job control stop */
	STOP_FORK,       /* a child was made: fork */
	STOP_VFORK,      /* … vfork, or clone(CLONE_VFORK) */
	STOP_CLONE,      /* … any other clone: mostly a thread */
	STOP_VFORK_DONE, /* the vfork child has let go of its parent */
	STOP_EXEC,       /* a new program has begun */
	STOP_SYSCALL,    /* entry or exit of a system call */
	STOP_OTHER,      /* a ptrace event that we never asked for */
	STOP_EXITED,     /* the task is gone; .status is its exit status */
	STOP_KILLED,     /* … by .signal */
};

struct stop {
	enum stop_kind kind;
	int signal;
	int status; /* of exit() */
};

/*
 * Classifies a status that waitpid() returned for a task that was seized with
 * PTRACE_O_TRACESYSGOOD and the fork, exec and clone events (ptrace(2)).
 * A pure function.
 */
struct stop stop_classify(int wait_status);

/* For messages. */
const char *stop_name(enum stop_kind kind);

#endif
