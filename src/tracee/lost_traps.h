/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LOST_TRAPS_H
#define CALLTRAP_LOST_TRAPS_H

#include "tracee/space.h"

/*
 * Who takes a uprobe away from a function (perf, bpftrace) has the kernel put
 * the file's byte there, over our int3: the function goes on unseen. While the
 * uprobe is there the kernel keeps all hits for it, so nothing was seen since
 * the last one either.
 */
struct lost_traps {
	size_t count;   /* that were gone, … */
	size_t failed;  /* … and could not be put back */
	uint64_t since; /* calls of them may have been missed from then on */
};

/*
 * Looks at the byte of each trap, and puts back those that are gone. last:
 * when that was done before (monotonic), or when tracing began.
 */
struct lost_traps lost_traps_restore(struct space *space, uint64_t last);

#endif
