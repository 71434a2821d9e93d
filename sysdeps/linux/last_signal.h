/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LAST_SIGNAL_H
#define CALLTRAP_LAST_SIGNAL_H

#include <sys/types.h>

#include "base/types.h"

/*
 * A signal that the kernel sends to another process when we end, however we
 * end: what is promised to it is done also when we are killed.
 */
struct last_signal {
	pid_t pid; /* 0: nobody */
	int ends[2];
};

/* 0, or a negative errno: there are no descriptors left. */
int last_signal_init(struct last_signal *last, int signal) MUST_CHECK;

/* pid is to get it from now on; 0: nobody. */
void last_signal_promise(struct last_signal *last, pid_t pid);

#endif
