/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/format/json_put.h"

#include <string.h>

#include "base/printable.h"
#include "base/xalloc.h"
#include "report/format/json_writer.h"

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

static bool is_ascii(const char *bytes, size_t length)
{
	uint8_t all = 0;
	size_t i;

	for (i = 0; i < length; i++)
		all |= (uint8_t)bytes[i];
	return all < 0x80;
}

static void add_escaped(char letter, struct strbuf *out)
{
	strbuf_putc(out, '\\');
	strbuf_putc(out, letter);
}

/* As Jansson has it, and add_bytes(). */
static void add_escape(char c, struct strbuf *out)
{
	static const char letters[] = "btn\0fr"; /* from 8 on */

	if (c == '"' || c == '\\') {
		add_escaped(c, out);
	} else if (c >= '\b' && c <= '\r' && c != '\v') {
		add_escaped(letters[c - '\b'], out);
	} else if (c == 0x7f) {
		strbuf_put(out, "\\u007f");
	} else {
		strbuf_put(out, c < 0x10 ? "\\u000" : "\\u001");
		strbuf_putc(out, "0123456789ABCDEF"[c & 15]);
	}
}

/* Much of what is logged isn't text. */
static void add_hex_object(const char *bytes, size_t length, struct strbuf *out)
{
	strbuf_put(out, "{\"hex\":\"");
	strbuf_add_hex_bytes(out, bytes, length);
	strbuf_put(out, "\"}");
}

static void put_and_forget(json_t *value, struct strbuf *out)
{
	json_put(value, JSON_COMPACT | JSON_ENCODE_ANY, out);
	json_decref(value);
}

void json_put_text(const char *bytes, size_t length, struct strbuf *out)
{
	const char *const end = bytes + length;
	size_t plain = printable_plain(bytes, length, '"');

	if (plain < length && !is_ascii(bytes, length)) {
		json_t *value = json_stringn(bytes, length);

		if (value)
			put_and_forget(value, out);
		else
			add_hex_object(bytes, length, out);
		return;
	}
	strbuf_putc(out, '"');
	for (;;) {
		strbuf_add(out, bytes, plain);
		bytes += plain;
		if (bytes == end)
			break;
		add_escape(*bytes++, out);
		plain = printable_plain(bytes, end - bytes, '"');
	}
	strbuf_putc(out, '"');
}

void json_put_address(taddr_t address, struct strbuf *out)
{
	if (!address) {
		strbuf_put(out, "null");
		return;
	}
	strbuf_putc(out, '"');
	strbuf_add_hex(out, address);
	strbuf_putc(out, '"');
}

void json_put_integer(int64_t number, struct strbuf *out)
{
	strbuf_add_decimal(out, (uint64_t)number, true);
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
	strbuf_put(out, line);
}

void json_put_key(const char *key, struct strbuf *out)
{
	json_t *text = json_string(key);

	json_put(text, JSON_ENCODE_ANY, out);
	strbuf_put(out, ": ");
	json_decref(text);
}
