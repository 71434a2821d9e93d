/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DWARF_DATA_H
#define CALLTRAP_DWARF_DATA_H

#include "dwarf/infofile.h"

/* The variable that begins at an address: of files and namespaces, those of
   functions and classes aren't looked for. */
bool data_find(struct infofile *file, uint64_t address, struct die *ret);

#endif
