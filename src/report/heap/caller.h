/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_CALLER_H
#define CALLTRAP_HEAP_CALLER_H

#include "report/heap/report.h"

/* So many frames of a stack are looked at. */
#define HEAP_CALLER_DEPTH 48

/* Whether a function is of C++'s or Rust's own libraries. */
bool heap_caller_is_of_language(const struct frame_name *name);

bool heap_caller_is_of_c_library(const struct frame *frame);

/* Where the program's own code has called what acquires in the end; false when
   it is its own code that acquires, or there is none. */
bool heap_caller_own_frame(const struct heap_report_config *config,
			   const struct site *site, struct frame *frame_ret);

/*
 * Who wants the memory: the program's own code, if there is any in the stack,
 * and no library that was installed with the system. Of the frames from there
 * on that have names the innermost one that is neither of the C library (strdup) nor of C++'s or Rust's own ones, nor an
 * inlined wrapper with the allocator's name; or, when there is no such, the
 * innermost with a name. NULL when the innermost frame has none.
 */
const struct frame_name *heap_caller(const struct heap_report_config *config,
				     const struct site *site,
				     struct frame *frame_ret);

#endif
