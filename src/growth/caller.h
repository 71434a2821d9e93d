/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GROWTH_CALLER_H
#define CALLTRAP_GROWTH_CALLER_H

#include "naming/namer.h"

/*
 * The frame credited with a brk, a mapping or a page fault: the innermost one
 * outside the C library, allocators, and C++'s and Rust's own libraries. Its
 * function may have no name: then its library stands for it. NULL when there
 * is no such frame.
 */
const struct frame_name *growth_caller(const struct stacks *stacks,
				       struct namer *namer, stack_id stack,
				       struct frame *ret);

#endif
