/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SOURCE_H
#define CALLTRAP_SOURCE_H

#include <stdbool.h>

#include "base/types.h"

struct event_source;
struct space;
struct syscall_stop;
struct task;
struct tracer;

/*
 * What else there is beside stops that tells of tasks: buffers that the kernel
 * or the tasks themselves write to. Any of these may be NULL.
 */
struct event_source_ops {
	void (*task_begin)(struct event_source *source, struct task *task);
	void (*task_end)(struct event_source *source, struct task *task);
	/* It runs another program, and may be another task of that number. */
	void (*exec)(struct event_source *source, struct task *task);
	/* Whether a signal that has stopped a task was the source's. */
	bool (*signal)(struct event_source *source, struct task *task,
		       int signal);
	/*
	 * Tells of everything that lies in its buffers. Called by the run loop
	 * at .due, whenever a signal has woken it, and before addresses mean
	 * something else. now: monotonic, nanoseconds.
	 */
	void (*drain)(struct event_source *source, uint64_t now);
	/*
	 * A space that runs is about to get its traps: whether that is to wait. It
	 * is asked again a moment later.
	 */
	bool (*keeps_traps_out)(struct event_source *source,
				struct space *space, uint64_t now);
	/*
	 * A task stands where it was asked to stop: whether it has been sent
	 * elsewhere, from where it will stop at system calls; it stands at one:
	 * whether it is to stop at more. What calls they are is nobody else's
	 * business. (While all system calls are watched nobody may be sent.)
	 */
	bool (*stands)(struct event_source *source, struct task *task);
	/* The same, of one that stands before its program's first instruction: traps
	   come when it is back. */
	bool (*begins)(struct event_source *source, struct task *task);
	/* … or at a trap, of a space that is .untended: it will hit that again. */
	bool (*traps)(struct event_source *source, struct task *task);
	bool (*system_call)(struct event_source *source, struct task *task,
			    const struct syscall_stop *stop);
	/* All tasks are about to be let go: no more signals. */
	void (*leaving)(struct event_source *source);
};

/* Embedded as first member of what implements it. */
struct event_source {
	const struct event_source_ops *ops;
	struct event_source *next;
	/*
	 * When it is to be drained at the latest, which .drain moves on; 0:
	 * whenever the loop is woken anyway.
	 */
	uint64_t due;
};

/* Before anything is traced. It is the caller's, and lives longer. */
void source_add(struct tracer *tracer, struct event_source *source);

/* These tell all of them. */
void sources_task_begin(const struct tracer *tracer, struct task *task);
void sources_task_end(const struct tracer *tracer, struct task *task);
void sources_exec(const struct tracer *tracer, struct task *task);
bool sources_signal(const struct tracer *tracer, struct task *task, int signal);
void sources_leaving(const struct tracer *tracer);

/* Whether any of them does. */
bool sources_keep_traps_out(const struct tracer *tracer, struct space *space,
			    uint64_t now);
bool sources_stand(const struct tracer *tracer, struct task *task);
bool sources_begin(const struct tracer *tracer, struct task *task);
bool sources_trap(const struct tracer *tracer, struct task *task);
bool sources_system_call(const struct tracer *tracer, struct task *task,
			 const struct syscall_stop *stop);

/* The one place where they are drained; nothing happens within itself. */
void sources_drain(struct tracer *tracer);

/* Those whose time has come. */
void sources_drain_due(struct tracer *tracer);

/* When the next one is due, or 0. */
uint64_t sources_due(const struct tracer *tracer);

#endif
