/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_SCOPE_H
#define CALLTRAP_DEBUGINFO_SCOPE_H

#include "base/strbuf.h"
#include "dwarf/die.h"

/*
 * Adds the namespaces and classes that an entry of C++ is declared in, each
 * with "::" behind it: "(anonymous namespace)::Pool<double>::". Nothing for
 * other languages, and where it is in none.
 */
void scope_add(const struct die *die, struct strbuf *out);

#endif
