/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CFI_NUMBER_H
#define CALLTRAP_CFI_NUMBER_H

#include "base/cursor.h"

/* A ULEB128 (DWARF 5, 7.6), but of no more than 9 bytes: those are shifted out of
   libunwind's. */
static inline uint64_t cfi_uleb128(struct cursor *c)
{
	const size_t begin = c->position;
	uint64_t value = cursor_u8(c);

	if (!(value & 0x80))
		return value;
	c->position = begin;
	value = cursor_uleb128(c);
	if (c->position - begin > 9)
		c->bad = true;
	return value;
}

#endif
