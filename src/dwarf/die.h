/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_DIE_H
#define CALLTRAP_DEBUGINFO_DIE_H

#include <stdbool.h>

#include "base/types.h"
#include "dwarf/dwarf_api.h"

/*
 * Entries (DIEs) of debug information, and their attributes. All of it may be
 * nonsense: what can't be read isn't there.
 */

/* An open file; common is the one that dwz moved shared parts to, or NULL. */
struct dwarf {
	Dwarf_Debug dbg;
	struct dwarf *common;
	unsigned word_size;
};

struct die {
	struct dwarf *dwarf;
	Dwarf_Die handle; /* NULL: none */
};

/* Each of these that returns true has set *ret, which die_put() gives back. */
bool die_at(struct dwarf *dwarf, uint64_t offset, struct die *ret);
bool die_first_child(const struct die *die, struct die *ret);

/* Puts the next one in its place; false (and nothing is left) at the end. */
bool die_to_sibling(struct die *die);

/* What an attribute refers to, in the common file, too. */
bool die_reference(const struct die *die, unsigned attribute, struct die *ret);
void die_put(struct die *die);

/* Leaving such a loop by break leaves the child to be put. */
#define for_each_child(parent, child)                                        \
	for (bool is_there_ = die_first_child((parent), (child)); is_there_; \
	     is_there_ = die_to_sibling(child))

unsigned die_tag(const struct die *die);
uint64_t die_offset(const struct die *die);

bool die_has(const struct die *die, unsigned attribute);
bool die_flag(const struct die *die, unsigned attribute);
bool die_number(const struct die *die, unsigned attribute, uint64_t *ret);
bool die_signed(const struct die *die, unsigned attribute, int64_t *ret);

/* The file's own memory; NULL when it has none. */
const char *die_string(const struct die *die, unsigned attribute);

/*
 * The same of the entry or of those that it stands for: a definition outside
 * of its class (DW_AT_specification), a copy of an inlined function
 * (DW_AT_abstract_origin).
 */
const char *die_inherited_string(const struct die *die, unsigned attribute);
bool die_inherited_number(const struct die *die, unsigned attribute,
			  uint64_t *ret);
bool die_inherited_reference(const struct die *die, unsigned attribute,
			     struct die *ret);
bool die_inherited_flag(const struct die *die, unsigned attribute);

/*
 * A function's name as the linker knows it, else as the source has it, and the
 * line that it begins in (0: not known). declared_ret: the entry that has the
 * latter name, for die_put(); no handle if the linker knows it.
 */
const char *die_function_name(const struct die *die, uint64_t *line_ret,
			      struct die *declared_ret);

/* The inlined function that it is a copy of; false when it is none. */
bool die_origin(const struct die *die, struct die *ret);

/* Ranges of addresses. */
struct die_range {
	uint64_t low, high;
};

/*
 * base is the DW_AT_low_pc of its unit. The array is to be freed; NULL when
 * there are none.
 */
struct die_range *die_ranges(const struct die *die, uint64_t base,
			     size_t *count_ret);
bool die_contains(const struct die *die, uint64_t base, uint64_t address);
bool die_address(const struct die *die, unsigned attribute, uint64_t *ret);

#endif
