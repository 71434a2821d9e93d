/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_TYPE_KIND_H
#define CALLTRAP_DEBUGINFO_TYPE_KIND_H

#include "dwarf/debug_type.h"
#include "dwarf/die.h"

/* A typedef that says more than the integer behind it. */
bool type_is_character(const struct die *die);

/*
 * What a type is, as far as its own entry says: neither its target nor its
 * parts. One without handle is of an unknown kind.
 */
void type_describe(const struct die *die, struct debug_type *ret);

#endif
