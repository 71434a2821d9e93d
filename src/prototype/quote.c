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
