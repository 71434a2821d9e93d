/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_FUNCTION_H
#define CALLTRAP_DEBUGINFO_FUNCTION_H

#include "base/strbuf.h"
#include "dwarf/infofile.h"

/*
 * Writes the type of the function that begins at an address, and all types
 * that it is made of. -ENOENT when there is none, or when arguments of its
 * language lie elsewhere than in C.
 */
int function_write(struct infofile *file, uint64_t address,
		   struct strbuf *out) MUST_CHECK;

#endif
