/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_JSON_STACK_H
#define CALLTRAP_JSON_STACK_H

#include <jansson.h>

#include "naming/namer.h"

/*
 * A stack as an array, innermost frame first:
 *
 *	{"function": "main", "offset": 30, "library": "/usr/bin/cat",
 *	 "address": "0x401136", "file": "cat.c", "line": 12, "inlined": true}
 *
 * "tail_call" has what left by one; callee: see namer_frames().
 *
 * What isn't known is left out.
 */
json_t *json_stack(const struct stacks *stacks, struct namer *namer,
		   stack_id stack, const char *callee);

#endif
