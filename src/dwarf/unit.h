/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_UNIT_H
#define CALLTRAP_DEBUGINFO_UNIT_H

#include "base/hash.h"
#include "dwarf/die.h"
#include "dwarf/intervals.h"
#include "dwarf/lines.h"

/* A function that is made of an entry without code. */
struct unit_copy {
	uint64_t origin; /* that entry's offset */
	uint64_t entry;  /* where the function begins */
};

/* A compilation unit, as far as it was asked about. */
struct unit {
	struct dwarf *dwarf;
	uint64_t offset;   /* of its entry */
	uint64_t base;     /* its DW_AT_low_pc, or 0 */
	unsigned language; /* DW_LANG_…, or 0 */
	bool has_functions;
	bool has_nested; /* … and those inside of classes and functions */
	bool has_lines;
	struct intervals functions; /* value: offset of the entry */
	struct unit_copy *copies;   /* by origin; or NULL */
	size_t copy_count, copy_room;
	bool has_copies;
	struct line_table lines;
	size_t bytes;      /* what it takes, when last counted */
	UT_hash_handle hh; /* by offset */
};

struct unit *unit_new(struct dwarf *dwarf, uint64_t offset) MUST_CHECK;
void unit_free(struct unit *unit);
void unit_count_bytes(struct unit *unit);

/* The function around an address, or the one that begins there. */
bool unit_function_at(struct unit *unit, uint64_t address, struct die *ret);
bool unit_function_from(struct unit *unit, uint64_t address, struct die *ret);

/*
 * Where the only function begins that is made of an entry without code: of an
 * abstract one, or a declaration. 0: there is none, or there are several.
 */
uint64_t unit_function_of(struct unit *unit, const struct die *die);
const struct line_table *unit_lines(struct unit *unit);

#endif
