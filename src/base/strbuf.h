/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_STRBUF_H
#define CALLTRAP_STRBUF_H

#include <stdbool.h>
#include <string.h>

#include "base/types.h"

/*
 * A growing text. A zeroed one is empty and ready; text is NULL until
 * something was added, and ends with a NUL from then on.
 */
struct strbuf {
	char *text;
	size_t length;
	size_t room;
};

void strbuf_fini(struct strbuf *buf);  /* frees the text; reusable after */
void strbuf_clear(struct strbuf *buf); /* keeps the memory */
void strbuf_add(struct strbuf *buf, const void *bytes, size_t n);
void strbuf_puts(struct strbuf *buf, const char *s);
void strbuf_printf(struct strbuf *buf, const char *format, ...)
	PRINTF_LIKE(2, 3);

/* Room for n more bytes and the NUL. */
void strbuf_grow(struct strbuf *buf, size_t n);

/*
 * Where n more bytes can be written, for what adds many pieces; strbuf_end_at() says
 * where they end, before anything else is done with it.
 */
static inline char *strbuf_reserve(struct strbuf *buf, size_t n)
{
	if (buf->length + n >= buf->room)
		strbuf_grow(buf, n);
	return buf->text + buf->length;
}

static inline void strbuf_end_at(struct strbuf *buf, char *end)
{
	*end = '\0';
	buf->length = (size_t)(end - buf->text);
}

static inline void strbuf_putc(struct strbuf *buf, char c)
{
	char *at = strbuf_reserve(buf, 1);

	*at = c;
	strbuf_end_at(buf, at + 1);
}

/* As strbuf_puts(), in a log's lines: of a literal it is a few words that are stored. */
static inline void strbuf_put(struct strbuf *buf, const char *s)
{
	const size_t n = strlen(s);
	char *at = strbuf_reserve(buf, n);

	memcpy(at, s, n);
	strbuf_end_at(buf, at + n);
}

/* What printf() makes of it with %lld or %llu, and with %#llx. */
void strbuf_add_decimal(struct strbuf *buf, uint64_t word, bool is_signed);
void strbuf_add_hex(struct strbuf *buf, uint64_t word);

/* Two digits for each byte. */
void strbuf_add_hex_bytes(struct strbuf *buf, const void *bytes, size_t n);

/* Adds the part of a second that so many nanoseconds end in: ".000104", ".000104200". */
void strbuf_add_micros(struct strbuf *buf, uint64_t ns);
void strbuf_add_nanos(struct strbuf *buf, uint64_t ns);

/* Adds "1,036". */
void strbuf_add_grouped(struct strbuf *buf, uint64_t number);

/* "3 h 10 min", "2.5 s", "310 µs": two digits or more. */
void strbuf_add_duration(struct strbuf *buf, uint64_t nanoseconds);

/*
 * Adds all that a descriptor has to give. -EFBIG when the text would get longer
 * than max, or the errno of reading.
 */
int strbuf_read(struct strbuf *buf, int fd, size_t max) MUST_CHECK;

/* Adds blanks until the text is at least this long. */
void strbuf_pad(struct strbuf *buf, size_t length);

/* Never NULL. Owned by the buffer, good until it changes. */
const char *strbuf_text(const struct strbuf *buf);

#endif
