/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DWARF_WAY_H
#define CALLTRAP_DWARF_WAY_H

#include "base/strbuf.h"
#include "dwarf/infofile.h"

/*
 * A way along pointers: from a variable, by its address, to the pointer that is
 * at an offset in it; in what that points at, to the pointer at the next one,
 * and so on. Writes how many of these can be told, and of each a struct debug_step.
 */
void way_write(struct infofile *file, uint64_t variable,
	       const uint64_t *offsets, unsigned count, struct strbuf *out);

#endif
