/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_STANDSTILL_H
#define CALLTRAP_STANDSTILL_H

#include "sysdeps/linux/procfs.h"

struct task;
struct tracee;
struct tracer;

/*
 * How long a process could not run although it had something to do: job control
 * had stopped it, it was frozen, had no processor, or waited in a stop for us,
 * who had none. What it sleeps of its own will is none of that.
 */
struct standstill {
	uint64_t ns;    /* in all */
	uint64_t until; /* monotonic: by then; 0: it wasn't looked at yet */
	uint64_t stops, own_waits_ns; /* by then */
	unsigned looks;
};

struct task_standstill {
	struct procfs_schedule schedule; /* when it was looked at last … */
	unsigned look;                   /* … as the process was, then */
	uint64_t listened_ns;            /* stopped by job control, so long */
	uint64_t listens_since;          /* … and since then; 0: it isn't */
	uint64_t looked_listened_ns;
};

/* Brings that of a process up to date, as far as it can be known by now. */
const struct standstill *standstill_look(struct tracee *tracee, uint64_t now);

/* A task's .listening has been set. */
void standstill_note_listening(struct task *task);

#endif
