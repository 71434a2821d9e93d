/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AFFINITY_H
#define CALLTRAP_AFFINITY_H

#include <sched.h>

/* On which processors the calling thread may run. */
struct affinity {
	cpu_set_t allowed; /* what we were given at the start */
	int processor;     /* the one that we keep to, or -1 */
};

void affinity_init(struct affinity *affinity);

/* Keeps to one processor; -1, or one that isn't allowed: to none. */
void affinity_keep_to(struct affinity *affinity, int processor);

#endif
