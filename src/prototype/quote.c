/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/quote.h"

#include <limits.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

static const char special[] = "\a\b\t\n\v\f\r\\";
static const char letters[] = "abtnvfr\\";

static bool is_octal_digit(char c)
{
	return c >= '0' && c <= '7';
}

/* mark: the quote that would end the text, or 0. */
static void quote_byte(struct strbuf *out, char mark, unsigned char byte,
		       bool digit_follows)
{
	const char *found = byte ? strchr(special, byte) : NULL;

	if (found)
		strbuf_printf(out, "\\%c", letters[found - special]);
	else if (byte && byte == (unsigned char)mark)
		strbuf_printf(out, "\\%c", mark);
	else if (byte >= 0x20 && byte < 0x7f)
		strbuf_putc(out, byte);
	else /* A digit that follows must not be taken for part of it. */
		strbuf_printf(out, byte || digit_follows ? "\\%03o" : "\\%o",
			      byte);
}

/*
 * A terminal shows these as they were meant, and the rest of the line, too:
 * characters without a shape, those that turn the direction of writing.
 */
static bool is_shown(wint_t c)
{
	return iswprint(c) && !(c >= 0x200b && c <= 0x200f) &&
	       !(c >= 0x2028 && c <= 0x202e) && !(c >= 0x2060 && c <= 0x206f) &&
	       c != 0xfeff;
}

/* How many bytes of a text are one character of the locale; 0: none is. */
static size_t local_length(const char *bytes, size_t n)
{
	mbstate_t state = { 0 };
	wchar_t c;
	size_t length = mbrtowc(&c, bytes, n, &state);

	/* Also (size_t)-1 and -2: it isn't one, or not a whole one. */
	return length && length <= n && is_shown(c) ? length : 0;
}

static bool next_is_digit(const char *bytes, size_t n)
{
	return n > 1 && is_octal_digit(bytes[1]);
}

void quote_char(struct strbuf *out, bool marked, char c)
{
	strbuf_putc(out, '\'');
	quote_byte(out, marked ? '\'' : 0, c, false);
	strbuf_putc(out, '\'');
}

/* How many bytes stand for themselves: mostly it is all of them. */
static size_t plain_length(char mark, const char *bytes, size_t n)
{
	size_t length = 0;

	while (length < n && bytes[length] >= 0x20 && bytes[length] < 0x7f &&
	       bytes[length] != '\\' && bytes[length] != mark)
		length++;
	return length;
}

void quote_text(struct strbuf *out, bool marked, const char *bytes, size_t n)
{
	const char mark = marked ? '"' : 0;

	strbuf_putc(out, '"');
	while (n) {
		size_t length = plain_length(mark, bytes, n);

		if (!length && (unsigned char)*bytes >= 0x80)
			length = local_length(bytes, n);
		if (length)
			strbuf_add(out, bytes, length);
		else
			quote_byte(out, mark, *bytes, next_is_digit(bytes, n));
		bytes += length ? length : 1;
		n -= length ? length : 1;
	}
	strbuf_putc(out, '"');
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

/* One that isn't of ASCII. */
static void quote_wide_character(struct strbuf *out, uint32_t c)
{
	char bytes[MB_LEN_MAX];
	mbstate_t state = { 0 };
	size_t length = is_shown(c) ? wcrtomb(bytes, c, &state) : 0;

	if (length && length <= sizeof(bytes))
		strbuf_add(out, bytes, length);
	else
		strbuf_printf(out, c > 0xffff ? "\\U%08x" : "\\u%04x", c);
}

void quote_wide(struct strbuf *out, bool marked, const char *bytes, size_t n)
{
	uint32_t c;

	strbuf_putc(out, '"');
	for (size_t i = 0; i < n;) {
		if ((unsigned char)bytes[i] < 0x80) {
			quote_byte(out, marked ? '"' : 0, bytes[i],
				   next_is_digit(bytes + i, n - i));
			i++;
			continue;
		}
		i += read_utf8((const unsigned char *)bytes + i, n - i, &c);
		quote_wide_character(out, c);
	}
	strbuf_putc(out, '"');
}
