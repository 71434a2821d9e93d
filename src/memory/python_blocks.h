/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PYTHON_BLOCKS_H
#define CALLTRAP_PYTHON_BLOCKS_H

#include "memory/glibc.h"

/*
 * CPython shares out most of its memory itself: then all that malloc knows are
 * pools. What is in use there becomes blocks among those of malloc, and blocks of
 * both that are objects, or what dictionaries and lists keep apart, are marked.
 * False: there is no such interpreter, and nothing has changed.
 */
bool python_blocks_add(struct memory *memory, const struct mappings *mappings,
		       struct glibc *glibc);

#endif
