/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_RETURNS_H
#define CALLTRAP_RETURNS_H

#include <stdbool.h>

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

/* Whether calls will still return there, or that can't be told. */
bool returns_outstanding(const struct returns *returns);

/* … with the stub by which each came, and when it began, in ticks. */
typedef void returns_visitor(void *context, taddr_t stub, uint64_t began);
void returns_visit_running(const struct returns *returns,
			   returns_visitor *visit, void *context);

#endif
