/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PHP_TABLES_H
#define CALLTRAP_PHP_TABLES_H

#include "memory/glibc.h"
#include "memory/picture.h"

/* How many numbers an array with that mask has; 0: no array has it. */
uint32_t php_table_numbers(uint32_t mask);

/*
 * PHP holds the elements of an array by a pointer behind their numbers, into the
 * middle of their block, be it an object's or part of anything else. Such blocks are
 * marked. Does nothing to other programs.
 */
void php_tables_mark(const struct picture *picture,
		     const struct mappings *mappings, struct glibc *glibc);

#endif
