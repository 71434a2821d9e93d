/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_MODULE_END_H
#define CALLTRAP_MODULE_END_H

#include "base/memory.h"

/*
 * Where the last page of a program or library ends, .bss with it, by the headers
 * that lie at its beginning; UINT64_MAX where these make no sense.
 */
taddr_t module_end(struct memory *memory, taddr_t start);

#endif
