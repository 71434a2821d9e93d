/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_NAMING_ORIGIN_H
#define CALLTRAP_NAMING_ORIGIN_H

#include <stdbool.h>

#include "naming/namer.h"

/* Where code comes from: whom to credit with what it does. */

/*
 * A function of C++'s or Rust's own libraries, by its symbol: who has called a
 * container is of interest, not how that got to the allocator.
 */
bool origin_is_language(const struct frame_name *name);

/* What the linker knows a library by, or NULL. Where its file isn't there: what
   that is called. */
const char *origin_soname(const struct code *code);

/* libc or the dynamic linker. */
bool origin_is_c_library(const struct frame *frame);

/* In a file that wasn't installed with the system. */
bool origin_is_own(const struct frame *frame);

#endif
