/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CAPTURE_H
#define CALLTRAP_CAPTURE_H

#include <stdint.h>

#include "sysdeps/x86_64/agent/layout.h"

/*
 * What of a call's memory the agent may copy: bytes that the function itself
 * has read or written for certain, whatever its arguments are. A hook that
 * read anything else could fault where the program doesn't.
 */

/* Among the bits of arguments and results: the latter is no text, but a number or a
   struct. */
#define CAPTURE_WHOLE_RESULT (1u << 6)

/*
 * Of a function that callable_by_agent() knows: which of its arguments (bits 0
 * to 5) and whether its result (bit AGENT_CAPTURE_RESULT) are copied, and in
 * ret how: AGENT_CAPTURE_USED | …, or 0.
 */
unsigned capture_plan(const char *function, uint8_t ret[AGENT_CAPTURES]);

/* The same of functions of the C library that it doesn't know; each of these
   arguments is filled, as far as the result says, or it is the result. */
unsigned fill_plan(const char *function, uint8_t ret[AGENT_CAPTURES]);

/* … of those that are looked at before the call: arguments as texts or filled, and the
   result. 0: there is no plan but what the prototype says. */
unsigned look_plan(const char *function, uint8_t ret[AGENT_CAPTURES]);

/* So many elements of what is filled are captured for certain. */
#define FILL_ELEMENTS (AGENT_CAPTURE_MOST / AGENT_EVENT_SIZE)

#endif
