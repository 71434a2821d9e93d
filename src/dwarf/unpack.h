/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_UNPACK_H
#define CALLTRAP_DEBUGINFO_UNPACK_H

#include <stdbool.h>

#include "base/cursor.h"

/* Whether sections of a type (ch_type of their header) can be unpacked. */
bool unpack_knows(uint32_t type);

/* What lies from the cursor on has to give exactly size bytes. */
bool unpack(uint32_t type, struct cursor from, uint8_t *to,
	    uint64_t size) MUST_CHECK;

#endif
