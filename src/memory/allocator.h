/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_ALLOCATOR_H
#define CALLTRAP_ALLOCATOR_H

#include "memory/mappings.h"

/*
 * Whose malloc a process uses, by the names of the files that it maps: what
 * takes glibc's place comes first. A constant; NULL: none is known.
 */
const char *allocator_by_file(const struct mappings *mappings);

/* The same without glibc's, and musl's if that isn't asked for. */
const char *allocator_other(const struct mappings *mappings, bool musl);

/* What it has got from the system, in bytes, if it has a variable that says so, and
   exports that; else 0. Asked of the process now. */
uint64_t allocator_taken(const struct mappings *mappings);

#endif
