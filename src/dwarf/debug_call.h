/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DWARF_DEBUG_CALL_H
#define CALLTRAP_DWARF_DEBUG_CALL_H

#include <stdbool.h>

#include "base/types.h"

/* Calls as debug information has them, on both sides of the wire. */

enum debug_target_kind {
	DEBUG_TARGET_UNKNOWN, /* through a pointer, or not described */
	DEBUG_TARGET_ADDRESS, /* where a function of the image begins */
	DEBUG_TARGET_NAME,    /* what the linker finds by its name */
};

struct debug_target {
	enum debug_target_kind kind;
	uint64_t address;
	const char *name;
};

/* What an address lies in. */
struct debug_caller {
	uint64_t entry; /* where the function begins; 0: not known */
	struct debug_target target; /* of the call whose last byte that is */
};

/* A call that is a jump: what it leads to returns to the caller's caller. */
struct debug_tail {
	uint64_t address; /* behind the jump, or in it */
	struct debug_target target;
};

/* The tail calls of a function. */
struct debug_tails {
	bool complete; /* else nothing is known */
	uint32_t count;
	const struct debug_tail *list;
};

#endif
