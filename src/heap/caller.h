/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_CALLER_H
#define CALLTRAP_HEAP_CALLER_H

#include "heap/site.h"
#include "heap/wrappers.h"
#include "naming/namer.h"

/* So many frames of a stack are looked at. */
#define HEAP_CALLER_DEPTH 48

/* The innermost frame of code that isn't the system's; 0 if there is none. */
size_t heap_caller_first(const struct frame *frames, size_t count);

/* Where the program's own code has called what acquires in the end; false when
   it is its own code that acquires, or there is none. */
bool heap_caller_own_frame(const struct stacks *stacks, const struct site *site,
			   struct frame *frame_ret);

/*
 * The frame credited with a site's memory. From the innermost frame of the
 * program's own code on, if the stack has any, else from the innermost frame:
 * the first with a name that is in neither the C library (strdup) nor C++'s or
 * Rust's own ones, and is no inlined wrapper with the allocator's name; if all
 * are, the first with a name. NULL when the first frame has none. What wrappers
 * have (NULL: nothing) is passed over, with all that they call, if their caller
 * has a name.
 */
const struct frame_name *heap_caller(const struct stacks *stacks,
				     struct namer *namer,
				     const struct wrappers *wrappers,
				     const struct site *site,
				     struct frame *frame_ret);

#endif
