/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DWARF_CALLS_H
#define CALLTRAP_DWARF_CALLS_H

#include "base/strbuf.h"
#include "dwarf/infofile.h"

/* Calls and tail calls, as compilers describe them when they optimize. */

/* Whether an entry describes the call whose instruction has that byte last. */
bool calls_is_site(const struct die *die, uint64_t address);

/*
 * Writes where a call goes to: enum debug_target_kind, address, name. NULL: an
 * unknown place.
 */
void calls_write_target(struct unit *unit, const struct die *site,
			struct strbuf *out);

/* Where a function begins, or 0. */
uint64_t calls_entry(const struct unit *unit, const struct die *function);

/*
 * Writes the tail calls of the function that begins at an address: whether
 * these are all (else there are none), how many, and each: the address behind
 * it, its target.
 */
void calls_write_tails(struct infofile *file, uint64_t address,
		       struct strbuf *out);

#endif
