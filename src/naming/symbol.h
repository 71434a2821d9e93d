/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_NAMING_SYMBOL_H
#define CALLTRAP_NAMING_SYMBOL_H

#include "debuginfo/debuginfo.h"

/*
 * The symbol that an address lies in, or NULL. What a static function of a
 * stripped library lies behind is not its name: so sizes count. Hand-written
 * code may have none.
 */
const struct symbol *symbol_around(const struct image *image, uint64_t address);

#endif
