/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_RECORDING_NUMBERS_H
#define CALLTRAP_RECORDING_NUMBERS_H

#include <string.h>

#include "base/cursor.h"
#include "base/strbuf.h"

/* Numbers as recordings have them: calltrap.recording(5), NUMBERS. */

#define VARINT_MAX 10 /* bytes */

/* As an unsigned number whose small values stand for small differences. */
static inline uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ -(difference >> 63);
}

static inline uint64_t unzigzag(uint64_t number)
{
	return number >> 1 ^ -(number & 1);
}

static inline void put_varint(struct strbuf *out, uint64_t number)
{
	uint8_t bytes[VARINT_MAX];
	size_t n = 0;

	for (; number > 0x7f; number >>= 7)
		bytes[n++] = number | 0x80;
	bytes[n++] = number;
	strbuf_add(out, bytes, n);
}

static inline void put_bytes(struct strbuf *out, const void *bytes, size_t size)
{
	put_varint(out, size);
	strbuf_add(out, bytes, size);
}

static inline void put_text(struct strbuf *out, const char *text)
{
	put_bytes(out, text ? text : "", text ? strlen(text) : 0);
}

/* One that doesn't end, or is larger than 64 bits, is bad. */
static inline uint64_t take_long_varint(struct cursor *in)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = cursor_u8(in);

		if (shift == 63 && byte > 1)
			break;
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return in->bad ? 0 : number;
	}
	in->bad = true;
	return 0;
}

/* The same, where as many bytes are left as one can have. */
static inline uint64_t take_near_varint(struct cursor *in)
{
	const uint8_t *at = in->bytes + in->position;
	uint64_t number = *at & 0x7f;
	unsigned shift = 0;

	while (*at++ & 0x80) {
		shift += 7;
		if (shift == 63 && *at > 1) {
			in->bad = true;
			return 0;
		}
		number |= (uint64_t)(*at & 0x7f) << shift;
	}
	in->position = at - in->bytes;
	return number;
}

/* Few are near the end. */
static inline uint64_t take_varint(struct cursor *in)
{
	if (!in->bad && in->size - in->position >= VARINT_MAX)
		return take_near_varint(in);
	return take_long_varint(in);
}

/* The bytes that follow their count, as a cursor of their own. */
static inline struct cursor take_part(struct cursor *in)
{
	uint64_t size = take_varint(in);
	struct cursor part = cursor_part(in, in->position, size);

	if (part.bad)
		in->bad = true;
	else
		cursor_skip(in, size);
	return part;
}

#endif
