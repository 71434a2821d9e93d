/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_FOOTPRINT_H
#define CALLTRAP_HEAP_FOOTPRINT_H

#include "heap/act_observer.h"

/*
 * The calls of allocators in malloc_wrap's form, to be made again by other
 * programs: how many there are, an empty line, and of each
 *
 *	m ID SIZE          c ID COUNT SIZE
 *	r NEW OLD SIZE     f ID
 *
 * A block's number is free for another one when it was given back, so the
 * largest is the most that were held at a time. 0 is NULL. What each line says
 * is told in calltrap(1), --footprint.
 */
struct heap_footprint;

/* "%p" in path becomes the process id: a file each. A negative errno when it
   can't be written. */
int heap_footprint_new(const char *path,
		       struct heap_footprint **ret) MUST_CHECK;
void heap_footprint_free(struct heap_footprint *footprint);

/* Return a number to be handed over as token. */
uint64_t heap_footprint_taken(struct heap_footprint *footprint,
			      const struct observed_act *act);
void heap_footprint_ended(struct heap_footprint *footprint,
			  const struct observed_act *act);
void heap_footprint_abandoned(struct heap_footprint *footprint,
			      const struct observed_act *act);

/* The process is gone, or is let go of: writes its file. A negative errno when
   that, or anything before it, has failed. */
int heap_footprint_close(struct heap_footprint *footprint,
			 pid_t pid) MUST_CHECK;

#endif
