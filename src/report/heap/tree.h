/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_TREE_H
#define CALLTRAP_HEAP_TREE_H

#include "report/flame/tree.h"
#include "report/heap/export.h"

/* The stacks of all sites; LIKELY ones are never left out. */
struct flame_tree *heap_tree_new(const struct heap_export *export,
				 size_t max) MUST_CHECK;

#endif
