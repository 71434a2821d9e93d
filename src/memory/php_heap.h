/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PHP_HEAP_H
#define CALLTRAP_PHP_HEAP_H

#include "memory/object_heap.h"

/* Whether the process has such an interpreter, by names of files. */
bool php_is_there(const struct mappings *mappings);

/*
 * Of PHP 8.2: chunks of 2 MiB, each of which leads to the next one, with a map
 * of their pages; and what is larger.
 */
void php_heap_read(struct memory *memory, const struct mappings *mappings,
		   const struct object_observer *observer,
		   struct object_heap *ret);

#endif
