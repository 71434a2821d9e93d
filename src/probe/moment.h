/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_MOMENT_H
#define CALLTRAP_MOMENT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/memory.h"
#include "base/types.h"
#include "probe/event.h"
#include "sysdeps/arch.h"
#include "tracee/price.h"

struct engine;
struct moment;
struct probe_space;
struct task;
struct task_calls;

/* What costs something to know, so it is asked for. */
struct moment_ops {
	/* The floating-point registers; -ENODATA when they aren't known. */
	int (*fp_regs)(const struct moment *moment, struct fp_regs *ret);

	/* Whether two addresses lay in one mapping: on one stack, most
	   likely. */
	bool (*is_one_mapping)(const struct moment *moment, taddr_t a,
			       taddr_t b);
};

/*
 * Where a program was when something happened to it: all that pairing, values,
 * stacks and sinks may ask of it. A stop fills it from the stopped task; a
 * record of something past from what was captured then, and what wasn't reads
 * as unreachable. Nothing here is kept beyond the event that is made of it.
 */
struct moment {
	struct probe_space *space;
	pid_t pid, tid;
	const struct arch_ops *arch;
	const struct regs *regs;
	struct memory *memory; /* as it was */
	bool past;             /* … and after this event nobody can read it */
	bool alone;            /* … nor what lay on the stack beside it */
	const struct fp_regs *fp; /* past: or NULL */
	int error;     /* alone: errno after a call that failed; or 0 */
	uint64_t time; /* monotonic, nanoseconds */
	struct stop_sums stops;         /* the task's */
	const struct stop_price *price; /* of one stop; NULL: it wasn't one */
	struct task_calls *calls;       /* those that run on the task */
	struct engine *engine;          /* that tells of it */
	const uint32_t *callers;   /* the stack at an entry, a stack_id; NULL:
				     it is to be taken */
	bool muted;                /* nobody is to hear of it any more */
	struct call_chosen chosen; /* of the call that begins or returns */
	bool untimed;              /* .time is some time before that */
	struct kernel_clock clock; /* … of the former, if its time is wanted */
	const struct moment_ops *ops;
};

/* Where the function returns to that begins there. */
int moment_return_address(const struct moment *moment,
			  uint64_t *ret) MUST_CHECK;

/* Of a stopped task whose registers have been read. */
struct moment moment_of_stop(struct task *task);

#endif
