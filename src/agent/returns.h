/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_RETURNS_H
#define CALLTRAP_RETURNS_H

#include <stddef.h>

#include "tracee/space.h"

/*
 * Calls whose return address the agent has replaced, as they are remembered in
 * the process. What is read there was written by the program, or might be.
 */

/* What stands at slots, and where the table is. To be the space's .replaced. */
struct returns {
	struct replaced_returns replaced;
	struct space *space;
	taddr_t table;
};

/* base: of the agent; back: as its header has it. */
void returns_init(struct returns *ret, struct space *space, taddr_t base,
		  uint32_t back);

/* How many calls will still return there. */
size_t returns_outstanding(const struct returns *returns);

#endif
