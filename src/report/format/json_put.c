/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/format/json_put.h"

#include <string.h>

#include "base/xalloc.h"

/* How many bytes a control character has that Jansson leaves as it is. */
static size_t control_length(const char *bytes, size_t n)
{
	if (*bytes == 0x7f)
		return 1;
	/* U+0080 to U+009F */
	return n > 1 && (uint8_t)bytes[0] == 0xc2 && (uint8_t)bytes[1] < 0xa0 ?
		       2 :
		       0;
}

/* It may be looked at in a terminal. */
static int add_bytes(const char *bytes, size_t n, void *out)
{
	size_t begin = 0, i = 0;

	while (i < n) {
		size_t length = control_length(bytes + i, n - i);

		if (!length) {
			i++;
			continue;
		}
		strbuf_add(out, bytes + begin, i - begin);
		i += length;
		begin = i;
		strbuf_printf(out, "\\u%04x", (uint8_t)bytes[i - 1]);
	}
	strbuf_add(out, bytes + begin, n - begin);
	return 0;
}

void json_put(const json_t *value, size_t flags, struct strbuf *out)
{
	if (json_dump_callback(value, add_bytes, out, flags))
		fatal("no memory for JSON");
}

void json_put_line(unsigned depth, struct strbuf *out)
{
	strbuf_putc(out, '\n');
	while (depth--)
		strbuf_putc(out, ' ');
}

/* Within texts there are no ends of lines. */
void json_put_inside(const json_t *value, unsigned depth, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const char *line, *end;

	json_put(value, JSON_INDENT(1) | JSON_ENCODE_ANY, &text);
	for (line = strbuf_text(&text); (end = strchr(line, '\n'));
	     line = end + 1) {
		strbuf_add(out, line, end - line);
		json_put_line(depth, out);
	}
	strbuf_puts(out, line);
}

void json_put_key(const char *key, struct strbuf *out)
{
	json_t *text = json_string(key);

	json_put(text, JSON_ENCODE_ANY, out);
	strbuf_puts(out, ": ");
	json_decref(text);
}
