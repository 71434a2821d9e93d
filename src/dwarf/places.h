/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_PLACES_H
#define CALLTRAP_DEBUGINFO_PLACES_H

#include "base/strbuf.h"
#include "dwarf/infofile.h"

/*
 * Writes where the function around an address begins and what the call leads to
 * whose last byte that is (see calls.h), then how many places the address
 * belongs to, and each, innermost first: function, file, line, column, line
 * that the function begins at.
 */
void places_write(struct infofile *file, uint64_t address, struct strbuf *out);

#endif
