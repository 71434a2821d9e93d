/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_TYPES_H
#define CALLTRAP_DEBUGINFO_TYPES_H

#include "base/strbuf.h"
#include "dwarf/debug_type.h"
#include "dwarf/die.h"

/* Types that a function is made of: each once, by number. */
struct types {
	struct known_type *known;  /* by entry */
	struct queued_type *queue; /* in the order of their numbers */
	size_t count, room;
	uint32_t unknown; /* number of the type for the rest, or none */
};

void types_init(struct types *types);
void types_fini(struct types *types);

/*
 * The number of the type that an entry has (DW_AT_type), which is that of
 * what typedefs and the like stand for; DEBUG_NO_TYPE: it has none, or void.
 */
uint32_t types_of(struct types *types, const struct die *die);

/*
 * Replaces a type by what typedefs and the like stand for, the first of which may
 * have the name; false (and it is put) when that is nothing: void.
 */
bool types_peel(struct die *type, const char **name_ret);

/* Writes them all, those that they refer to included. */
void types_write(struct types *types, struct strbuf *out);

/* How many parts follow is written first. */
void types_write_part(struct strbuf *out, const struct debug_part *part);

/*
 * Whether one is passed as C passes it, whatever the language: all numbers
 * and pointers are.
 */
bool types_is_scalar(const struct types *types, uint32_t number);

#endif
