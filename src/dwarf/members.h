/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_MEMBERS_H
#define CALLTRAP_DEBUGINFO_MEMBERS_H

#include "dwarf/types.h"

/* The parts of one type. */
struct members {
	struct debug_part *list;
	size_t count, room;
};

/*
 * Of a struct, class or union that so many pointers lead to. Returns whether
 * it is passed by address.
 */
bool members_read(struct members *members, struct types *types,
		  const struct die *die, unsigned pointers);

/* The names of an enum, and the lowest of their values. */
void members_read_enum(struct members *members, const struct die *die,
		       int64_t *lowest_ret);

/* Two words of which nothing is known. */
void members_add_words(struct members *members, uint32_t type, uint64_t size);
void members_fini(struct members *members);

/* types.c: as types_of(), of a type that so many pointers lead to. */
uint32_t types_behind(struct types *types, const struct die *die,
		      unsigned pointers);

#endif
