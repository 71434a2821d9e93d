/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/cursor.h"

#include <string.h>

struct cursor cursor_of(const void *bytes, size_t size)
{
	return (struct cursor){ .bytes = bytes, .size = size };
}

struct cursor cursor_part(const struct cursor *c, uint64_t offset,
			  uint64_t size)
{
	if (c->bad || offset > c->size || size > c->size - offset)
		return (struct cursor){ .bad = true };
	return cursor_of(c->bytes + offset, size);
}

void cursor_seek(struct cursor *c, uint64_t position)
{
	if (position > c->size)
		c->bad = true;
	else
		c->position = position;
}

void cursor_skip(struct cursor *c, uint64_t n)
{
	(void)cursor_bytes(c, n);
}

const uint8_t *cursor_bytes(struct cursor *c, uint64_t n)
{
	const uint8_t *p;

	if (c->bad || n > c->size - c->position) {
		c->bad = true;
		return NULL;
	}
	p = c->bytes + c->position;
	c->position += n;
	return p;
}

static uint64_t little_endian(struct cursor *c, unsigned n)
{
	const uint8_t *p = cursor_bytes(c, n);
	uint64_t value = 0;

	if (!p)
		return 0;
	while (n--)
		value = value << 8 | p[n];
	return value;
}

uint16_t cursor_u16(struct cursor *c)
{
	return little_endian(c, 2);
}

uint32_t cursor_u32(struct cursor *c)
{
	return little_endian(c, 4);
}

uint64_t cursor_u64(struct cursor *c)
{
	return little_endian(c, 8);
}

uint64_t cursor_word(struct cursor *c, unsigned word_size)
{
	return little_endian(c, word_size == 4 ? 4 : 8);
}

uint64_t cursor_uleb128(struct cursor *c)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !c->bad);
	return value;
}

const char *cursor_string_at(const struct cursor *c, uint64_t offset)
{
	if (c->bad || offset >= c->size ||
	    !memchr(c->bytes + offset, '\0', c->size - offset))
		return NULL;
	return (const char *)c->bytes + offset;
}
