/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_READ_H
#define CALLTRAP_HEAP_READ_H

#include "memory/glibc.h"

/* The heap of the allocator that a process has, of those that are understood:
   see glibc_read(), mallocng_read(). */
int heap_read(struct memory *memory, struct mappings *mappings,
	      struct glibc *ret) MUST_CHECK;

#endif
