/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CURSOR_H
#define CALLTRAP_CURSOR_H

#include <stdbool.h>

#include "base/types.h"

/*
 * Reads little-endian numbers and strings from bytes that nobody vouches
 * for. A read past the end yields 0 (or "") and sets bad, which stays set, so
 * that a parser may read a whole record and look once.
 */
struct cursor {
	const uint8_t *bytes;
	size_t size;
	size_t position;
	bool bad;
};

struct cursor cursor_of(const void *bytes, size_t size);

/* A cursor over [offset, offset + size) of another, bad when outside it. */
struct cursor cursor_part(const struct cursor *c, uint64_t offset,
			  uint64_t size);

static inline bool cursor_at_end(const struct cursor *c)
{
	return c->bad || c->position >= c->size;
}

void cursor_seek(struct cursor *c, uint64_t position);
void cursor_skip(struct cursor *c, uint64_t n);

static inline uint8_t cursor_u8(struct cursor *c)
{
	if (!c->bad && c->position < c->size)
		return c->bytes[c->position++];
	c->bad = true;
	return 0;
}

uint16_t cursor_u16(struct cursor *c);
uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);
/* DWARF 5, 7.6; what is over 64 bits is lost. */
uint64_t cursor_uleb128(struct cursor *c);

/* An unsigned number of 4 or 8 bytes. */
uint64_t cursor_word(struct cursor *c, unsigned word_size);

/* n bytes in place, or NULL. */
const uint8_t *cursor_bytes(struct cursor *c, uint64_t n);

/* The string that begins at an offset and ends inside, or NULL. */
const char *cursor_string_at(const struct cursor *c, uint64_t offset);

#endif
