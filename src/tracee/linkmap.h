/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LINKMAP_H
#define CALLTRAP_LINKMAP_H

#include <stdbool.h>

#include "tracee/trap.h"

struct space;

/*
 * What the dynamic linker tells debuggers: struct r_debug of <link.h>, one
 * per namespace, and the function at r_brk that it calls before and after
 * each change.
 */
struct linkmap {
	struct space *space;
	taddr_t r_debug;           /* 0 = not known yet */
	taddr_t breakpoint;        /* r_brk; 0 = not trapped */
	taddr_t entry;             /* AT_ENTRY while that is trapped, else 0 */
	bool complete;             /* a consistent list has been read */
	bool broken;               /* it was garbage, and the user was told */
	struct trap_owner changed; /* at r_brk */
	struct trap_owner entered; /* at AT_ENTRY */
};

/*
 * Finds the modules of a space that begins (exec: the program and the dynamic
 * linker alone) or is attached to (all), tells the client of each, and traps
 * what will tell of changes. But for that, no trap is in the code yet:
 * trap_plant_deferred() is to follow, or trap_plant_in_slices(). Returns
 * -ENOEXEC for programs that calltrap has no port to, -ENODATA for those
 * without AT_PHDR, -ERR_GONE, -EAGAIN when the process is about to run another
 * program, or the error of reading the program. Then nothing was written but
 * what would be right for the bound space, and nothing is to follow. The space
 * must be bound (space_bind()).
 */
int linkmap_start(struct space *space, bool at_exec) MUST_CHECK;

#endif
