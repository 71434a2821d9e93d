/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_STUB_H
#define CALLTRAP_STUB_H

#include <stdbool.h>
#include <stddef.h>

#include "sysdeps/arch.h"
#include "sysdeps/x86_64/agent/layout.h"

/*
 * What is caught, and how. insn is the function's first instruction where a
 * trap stands on it, so that the agent enters behind that; else NULL.
 */
enum stub_way {
	STUB_NOTES,    /* returns are counted */
	STUB_RECORDS,  /* … recorded, and it is noted what has begun */
	STUB_WATCHES,  /* returns and entries are recorded, with stacks */
	STUB_SAMPLES,  /* … of some, which agent_act() says how to choose */
	STUB_RELEASES, /* … which may give back what was acquired by these */
	STUB_WALKS,    /* nothing; it looks at return addresses itself */
	STUB_FILTERS,  /* nothing; it passes on to another stub, or doesn't */
	STUB_TALLIES, /* calls are counted, but for some that are left to the trap */
};

struct stub_config {
	taddr_t base; /* of the agent */
	unsigned index;
	taddr_t function;
	const struct insn *insn;
	/* Where the function's code is a linkage stub, or another stub tells of its
	   calls: to what that leads to, or to that; or 0. */
	taddr_t leads_to;
	/* Where the trap on the function isn't its own: there is a jump for one to
	   stand on, see stub_door(). */
	bool has_door;
	unsigned arguments;
	uint8_t captures[AGENT_CAPTURES]; /* as in struct agent_stub */
	unsigned failure; /* enum agent_failure, and AGENT_WIDE … */
	enum stub_way way;
	/* STUB_FILTERS: calls that return there go on at that hook. */
	struct agent_callers callers;
	taddr_t hook;
};

/* Where the stub lies, and what slots of its function hold from then on. */
taddr_t stub_address(taddr_t base, unsigned index);

/* … and where that jump lies. */
taddr_t stub_door(taddr_t base, unsigned index);

/* Returns -EINVAL or -ERANGE when the first instruction can't be moved there. */
int stub_make(const struct stub_config *config,
	      struct agent_stub *ret) MUST_CHECK;

/* A jump to wherever, which changes nothing else. */
#define STUB_FAR_JUMP_SIZE 15
void stub_put_far_jump(uint8_t ret[STUB_FAR_JUMP_SIZE], taddr_t target);

/* Whether it leads on without any of the function's own code. */
bool stub_needs_no_code(const struct agent_stub *stub);

/* Whether an old one, made by whomever for the same place, does the same. */
bool stub_equals(const struct agent_stub *a, const struct agent_stub *b);

#endif
