/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LAUNCH_H
#define CALLTRAP_LAUNCH_H

#include "tracee/tracer.h"

/* Whom to run a command as. */
struct launch_user {
	const char *name;
	uid_t uid;
	gid_t gid;
};

/*
 * Starts a program, traced from its first instruction (its exec is the first
 * event that is handled). user may be NULL. Returns a negative errno when it
 * couldn't be started, with message_ret saying why (to be freed).
 */
int launch(struct tracer *tracer, char **command,
	   const struct launch_user *user, pid_t *pid_ret,
	   char **message_ret) MUST_CHECK;

#endif
