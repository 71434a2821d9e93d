/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/format/xml.h"

#include <string.h>

#include "report/format/names.h"

static bool continues(char byte)
{
	return (byte & 0xc0) == 0x80;
}

/* Cuts valid UTF-8 to so many characters. */
static void cut(struct strbuf *text, size_t max)
{
	size_t count = 0, end = 0;

	for (size_t i = 0; i < text->length; i++) {
		if (continues(text->text[i]))
			continue;
		if (max < 2 ? count == max : count == max - 2)
			end = i;
		if (count++ == max)
			break;
	}
	if (count <= max)
		return;
	text->text[end] = 0;
	text->length = end;
	if (max >= 2)
		strbuf_puts(text, "..");
}

static unsigned code_of_three(const char *s)
{
	return (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
}

/* Characters of three bytes: no XML at all, or they turn text around. */
static bool is_harmful(unsigned code)
{
	return code == 0xfffe || code == 0xffff || code == 0x200e ||
	       code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

static size_t add_character(struct strbuf *out, const char *s)
{
	switch (*s) {
	case '&':
		strbuf_puts(out, "&amp;");
		return 1;
	case '<':
		strbuf_puts(out, "&lt;");
		return 1;
	case '>':
		strbuf_puts(out, "&gt;");
		return 1;
	case '"':
		strbuf_puts(out, "&quot;");
		return 1;
	case '\'':
		strbuf_puts(out, "&#39;");
		return 1;
	}
	if ((*s & 0xf0) == 0xe0 && is_harmful(code_of_three(s))) {
		strbuf_printf(out, "\\u%04x", code_of_three(s));
		return 3;
	}
	strbuf_putc(out, *s);
	return 1;
}

void xml_add(struct strbuf *out, const char *text, size_t max)
{
	CLEANUP(strbuf_fini) struct strbuf plain = { 0 };
	const char *s;

	names_escape(&plain, text);
	cut(&plain, max);
	for (s = strbuf_text(&plain); *s;)
		s += add_character(out, s);
}
