/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/quote.h"

#include <langinfo.h>
#include <limits.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "base/printable.h"

static const char letters[] = "abtnvfr"; /* of the bytes from \a to \r */

static bool is_octal_digit(char c)
{
	return c >= '0' && c <= '7';
}

static char *put_escaped(char *at, char letter)
{
	*at++ = '\\';
	*at++ = letter;
	return at;
}

static char *put_octal(char *at, unsigned char byte)
{
	at = put_escaped(at, '0' + (byte >> 6));
	*at++ = '0' + (byte >> 3 & 7);
	*at++ = '0' + (byte & 7);
	return at;
}

/* What a byte becomes has no more than these. */
#define QUOTED_MAX 4

/*
 * Where it ends. Much of what is logged isn't text: printf() would take most of a
 * line's time. mark: the quote that would end the text, or 0.
 */
static char *put_byte(char *at, char mark, unsigned char byte,
		      bool digit_follows)
{
	if (byte >= '\a' && byte <= '\r')
		return put_escaped(at, letters[byte - '\a']);
	if (byte == '\\' || (byte && byte == (unsigned char)mark))
		return put_escaped(at, byte);
	if (!byte && !digit_follows)
		return put_escaped(at, '0');
	/* A digit that follows must not be taken for part of it. */
	if (byte < 0x20 || byte >= 0x7f)
		return put_octal(at, byte);
	*at++ = byte;
	return at;
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

static bool is_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

/* mbrtowc() would take its time to say so: what isn't text mostly ends here. */
static bool can_be_utf8(const char *bytes, size_t n)
{
	const unsigned char first = *bytes;

	return first >= 0xc2 && first <= 0xf4 && n > 1 &&
	       (bytes[1] & 0xc0) == 0x80;
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

static void add_byte(struct strbuf *out, char mark, unsigned char byte,
		     bool digit_follows)
{
	strbuf_end_at(out, put_byte(strbuf_reserve(out, QUOTED_MAX), mark, byte,
				    digit_follows));
}

void quote_char(struct strbuf *out, bool marked, char c)
{
	strbuf_putc(out, '\'');
	add_byte(out, marked ? '\'' : 0, c, false);
	strbuf_putc(out, '\'');
}

/* How many bytes, from one on that isn't of ASCII, are one character; 0: none is. */
static size_t character_length(const char *bytes, size_t n, bool utf8)
{
	return utf8 && !can_be_utf8(bytes, n) ? 0 : local_length(bytes, n);
}

static char *put_text(char *at, char mark, const char *bytes, size_t n)
{
	const bool utf8 = is_utf8();

	while (n) {
		size_t length = printable_plain(bytes, n, mark);

		if (!length && (unsigned char)*bytes >= 0x80)
			length = character_length(bytes, n, utf8);
		if (length)
			at = mempcpy(at, bytes, length);
		else
			at = put_byte(at, mark, *bytes,
				      next_is_digit(bytes, n));
		bytes += length ? length : 1;
		n -= length ? length : 1;
	}
	return at;
}

void quote_text(struct strbuf *out, bool marked, const char *bytes, size_t n)
{
	const char mark = marked ? '"' : 0;
	char *at = strbuf_reserve(out, 2 + n * QUOTED_MAX);

	*at++ = '"';
	/* Mostly all of it stands for itself. */
	if (printable_plain(bytes, n, mark) == n)
		at = mempcpy(at, bytes, n);
	else
		at = put_text(at, mark, bytes, n);
	*at++ = '"';
	strbuf_end_at(out, at);
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
			add_byte(out, marked ? '"' : 0, bytes[i],
				 next_is_digit(bytes + i, n - i));
			i++;
			continue;
		}
		i += read_utf8((const unsigned char *)bytes + i, n - i, &c);
		quote_wide_character(out, c);
	}
	strbuf_putc(out, '"');
}
