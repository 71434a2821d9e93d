/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_TOUCHED_H
#define CALLTRAP_TOUCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/types.h"

/* What of a mapping was read or written in some time. */
struct touched_part {
	taddr_t start;
	uint64_t resident, touched;
};

struct touched {
	uint64_t wait_ns; /* in so long; 0: nobody has looked */
	bool sure; /* else some of it wasn't noticed: processors that have an
		      address at hand note no use of it */
	struct touched_part *list; /* by address */
	size_t count, room;
};

/*
 * Has the kernel forget which pages are in use (/proc/PID/clear_refs), waits,
 * and asks it. The process isn't stopped. -ERR_GONE, -EACCES.
 */
int touched_watch(pid_t pid, uint64_t wait_ns, struct touched *ret) MUST_CHECK;
void touched_fini(struct touched *touched);

/* Whether it can be done: 0, or why the kernel can't; and whether it keeps what is
   written, so that not all is noticed. */
int touched_try(bool *dirty_ret) MUST_CHECK;

/* NULL: that mapping wasn't there. */
const struct touched_part *touched_at(const struct touched *touched,
				      taddr_t start);

#endif
