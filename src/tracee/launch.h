/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LAUNCH_H
#define CALLTRAP_LAUNCH_H

#include "tracee/inheritance.h"
#include "tracee/tracer.h"

/* Whom to run a command as. */
struct launch_user {
	const char *name;
	uid_t uid;
	gid_t gid;
};

struct launch_config {
	char **command;
	const struct launch_user *user; /* or NULL */
	const struct inheritance *inheritance;
	const volatile sig_atomic_t *leave; /* when set the launch is given
					       up; signals must interrupt */
};

/*
 * Starts a program, traced from its first instruction: its exec is queued, the
 * first event to be handled (or its end, when a signal killed it before).
 * Returns a negative errno when it couldn't be started, with message_ret saying
 * why (to be freed); -EINTR and no message when *leave was set.
 */
int launch(struct tracer *tracer, const struct launch_config *config,
	   pid_t *pid_ret, char **message_ret) MUST_CHECK;

#endif
