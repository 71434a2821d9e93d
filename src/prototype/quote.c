/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/quote.h"

#include <stdbool.h>
#include <string.h>

static const char special[] = "\a\b\t\n\v\f\r\\";
static const char letters[] = "abtnvfr\\";

static bool is_octal_digit(char c)
{
	return c >= '0' && c <= '7';
}

static void quote_byte(struct strbuf *out, char mark, unsigned char byte,
		       bool digit_follows)
{
	const char *found = byte ? strchr(special, byte) : NULL;

	if (found)
		strbuf_printf(out, "\\%c", letters[found - special]);
	else if (byte == (unsigned char)mark)
		strbuf_printf(out, "\\%c", mark);
	else if (byte >= 0x20 && byte < 0x7f)
		strbuf_putc(out, byte);
	else /* A digit that follows must not be taken for part of it. */
		strbuf_printf(out, byte || digit_follows ? "\\%03o" : "\\%o",
			      byte);
}

void quote_bytes(struct strbuf *out, char mark, const char *bytes, size_t n)
{
	strbuf_putc(out, mark);
	for (size_t i = 0; i < n; i++)
		quote_byte(out, mark, bytes[i],
			   i + 1 < n && is_octal_digit(bytes[i + 1]));
	strbuf_putc(out, mark);
}

/* Reads one character of UTF-8 that we have made ourselves. */
static size_t read_utf8(const unsigned char *bytes, size_t n, uint32_t *ret)
{
	size_t length = bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;

	if (bytes[0] < 0xc0 || length > n) {
		*ret = bytes[0];
		return 1;
	}
	*ret = bytes[0] & (0x7f >> length);
	for (size_t i = 1; i < length; i++)
		*ret = *ret << 6 | (bytes[i] & 0x3f);
	return length;
}

void quote_wide(struct strbuf *out, const char *bytes, size_t n)
{
	uint32_t c;

	strbuf_putc(out, '"');
	for (size_t i = 0; i < n;) {
		if ((unsigned char)bytes[i] < 0x80) {
			quote_byte(out, '"', bytes[i],
				   i + 1 < n && is_octal_digit(bytes[i + 1]));
			i++;
			continue;
		}
		i += read_utf8((const unsigned char *)bytes + i, n - i, &c);
		strbuf_printf(out, c > 0xffff ? "\\U%08x" : "\\u%04x", c);
	}
	strbuf_putc(out, '"');
}
