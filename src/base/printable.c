/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* How many bytes follow the first one of a character; -1 if it is no such. */
static int utf8_rest(uint8_t byte)
{
	if (byte < 0x80)
		return 0;
	if (byte >= 0xc2 && byte < 0xe0)
		return 1;
	if (byte >= 0xe0 && byte < 0xf0)
		return 2;
	if (byte >= 0xf0 && byte < 0xf5)
		return 3;
	return -1;
}

/*
 * What changes the direction of the text behind it, or ends its line: on a
 * screen a name would be something else than it is (U+061C, U+200E, U+200F,
 * U+2028 to U+202E, U+2066 to U+2069).
 */
static bool misleads(const uint8_t *s)
{
	if (s[0] == 0xd8)
		return s[1] == 0x9c;
	if (s[0] != 0xe2)
		return false;
	return (s[1] == 0x80 && (s[2] == 0x8e || s[2] == 0x8f ||
				 (s[2] >= 0xa8 && s[2] <= 0xae))) ||
	       (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

size_t printable_length(const char *text)
{
	const uint8_t *s = (const uint8_t *)text;
	int rest = utf8_rest(*s), i;

	if (*s < ' ' || *s == 0x7f || rest < 0)
		return 0;
	for (i = 1; i <= rest; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* U+0080 to U+009F: terminals take them for control characters. */
	if (*s == 0xc2 && s[1] < 0xa0)
		return 0;
	/* Overlong forms, surrogates, and beyond U+10FFFF (RFC 3629). */
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] >= 0xa0) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] >= 0x90))
		return 0;
	return misleads(s) ? 0 : 1 + rest;
}

void printable_make(char *text, size_t length)
{
	size_t i = 0;

	while (i < length) {
		size_t n = printable_length(text + i);

		if (!n)
			text[i] = '?';
		i += n ? n : 1;
	}
}

bool printable_is_ascii(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text >= 127)
			return false;
	return true;
}

bool printable_has_no_controls(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			return false;
	return true;
}

#define IN_ALL(byte) (UINT64_C(0x0101010101010101) * (uint8_t)(byte))

/* Whether any of eight bytes is less than one that isn't more than 0x80. */
static uint64_t any_below(uint64_t bytes, uint8_t byte)
{
	return (bytes - IN_ALL(byte)) & ~bytes & IN_ALL(0x80);
}

static bool are_plain(uint64_t bytes, char mark)
{
	const uint64_t not_ascii = (bytes + IN_ALL(1)) | bytes; /* nor 0x7f */

	return !((not_ascii & IN_ALL(0x80)) | any_below(bytes, ' ') |
		 any_below(bytes ^ IN_ALL('\\'), 1) |
		 any_below(bytes ^ IN_ALL(mark), 1));
}

static bool is_plain(char c, char mark)
{
	return c >= ' ' && c < 0x7f && c != '\\' && c != mark;
}

size_t printable_plain(const char *bytes, size_t n, char mark)
{
	size_t i = 0;
	uint64_t eight;

	for (; n - i >= sizeof(eight); i += sizeof(eight)) {
		memcpy(&eight, bytes + i, sizeof(eight));
		if (!are_plain(eight, mark))
			break;
	}
	while (i < n && is_plain(bytes[i], mark))
		i++;
	return i;
}
