/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FAULTS_H
#define CALLTRAP_FAULTS_H

#include "growth/growth.h"
#include "stack/unwind.h"
#include "tracee/tracer.h"

/*
 * Watches the page faults of all tasks through the kernel's perf events, and
 * tells of them, with their stacks.
 */
struct faults;

struct faults_options {
	struct unwinder *unwinder;
	unsigned depth; /* of stacks */
	/* Where those of a process are booked; NULL: they are not wanted. */
	struct growth *(*growth)(void *context, pid_t pid);
	void *context;
};

struct faults *faults_new(const struct faults_options *options) MUST_CHECK;
void faults_free(struct faults *faults);

/* For the tracer, before anything is traced. */
struct event_source *faults_source(struct faults *faults);

/* Books what has happened so far. */
void faults_drain(struct faults *faults);

#endif
