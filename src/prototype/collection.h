/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_COLLECTION_H
#define CALLTRAP_COLLECTION_H

#include "prototype/definitions.h"

/*
 * Reads NAME.conf from the search path, unless that was done before, and
 * takes what it defines over. A file that is being read just now is passed
 * over: so a user's libc.so.conf can import the system's. -ENOENT when there
 * is no such file.
 */
int prototypes_import(struct prototypes *prototypes, struct definitions *into,
		      const char *name, size_t length) MUST_CHECK;

#endif
