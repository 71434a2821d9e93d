/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_REAPER_H
#define CALLTRAP_REAPER_H

#include <stddef.h>
#include <sys/types.h>

#include "base/types.h"

struct tracer;
struct reaper;

/*
 * Who calls execve holds a mutex that PTRACE_SEIZE wants as well
 * (cred_guard_mutex, ptrace_attach()), and waits until all other threads have
 * ended and their tracer knows. While threads of a process are seized one by
 * one that tracer may be us: we would wait for each other for ever. So another
 * thread of ours fetches what these tasks have to tell if a seizure takes long.
 * NULL when there can't be a thread.
 */
struct reaper *reaper_start(void);

/*
 * Seizes a task, one of those; the others may be ours. The array must stay as
 * it is until reaper_end().
 */
int reaper_seize(struct reaper *reaper, pid_t tid, unsigned long options,
		 const pid_t *tids, size_t count) MUST_CHECK;

/* What was fetched is queued with the tracer. */
void reaper_end(struct reaper *reaper, struct tracer *tracer);

#endif
