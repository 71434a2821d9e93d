/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_INHERITANCE_H
#define CALLTRAP_INHERITANCE_H

#include <signal.h>
#include <sys/resource.h>

#include "base/types.h"

/*
 * What a program keeps of the one that runs it, as far as calltrap changes it
 * for itself.
 */
struct inheritance {
	sigset_t blocked;
	uint64_t ignored; /* bit N - 1 is signal N */
	struct rlimit files;
};

/* To be called before anything of it is changed. */
void inheritance_save(struct inheritance *ret);

/*
 * In a child that has all signals blocked: one that came is delivered here,
 * and does what it would do to the program. May be called after a fork.
 */
void inheritance_restore(const struct inheritance *inheritance);

#endif
