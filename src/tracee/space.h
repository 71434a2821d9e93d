/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SPACE_H
#define CALLTRAP_SPACE_H

#include "sysdeps/arch.h"
#include "sysdeps/linux/procmem.h"
#include "tracee/linkmap.h"
#include "tracee/module.h"
#include "tracee/scratch.h"
#include "tracee/trap.h"

struct tracer;

/*
 * An address space. Tracees share one after vfork and clone(CLONE_VM): what
 * belongs to memory belongs here, never to a task.
 */
struct space {
	struct tracer *tracer;
	unsigned references;       /* tracees */
	struct procmem memory;
	const struct arch_ops *arch; /* of the program */
	struct trap *traps;        /* by address */
	struct scratch scratch;
	struct module *modules;    /* in the order of the link map */
	struct linkmap linkmap;
	int guard;                 /* its number with the guardian, or -1 */
	bool guard_asked;
	bool defers_traps;         /* see trap_defer() */
	bool shadow_stack;         /* these two: see passing.c */
	bool shadow_stack_known;
	void *client;              /* of the tracer's client */
};

/* pid: any live task of it. */
struct space *space_new(struct tracer *tracer, pid_t pid);
struct space *space_get(struct space *space);
void space_put(struct space *space);

/*
 * Which task the kernel is asked about the space from now on: one that is
 * alive, as any task in a stop is.
 */
void space_use_task(struct space *space, pid_t tid);

/* The task is about to be forgotten: another one is asked, if there is any. */
void space_lose_task(struct space *space, pid_t tid);

/* Its number with the guardian, which hears of it now; or -1. */
int space_guard(struct space *space);

#endif
