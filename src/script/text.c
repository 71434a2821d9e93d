/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "script/node.h"

/* PATH_MAX; nothing longer can have been opened. */
#define TEXT_MAX 4096

int script_read_text(struct memory *memory, taddr_t address, uint64_t length,
		     struct strbuf *ret)
{
	char bytes[TEXT_MAX];

	if (address < SCRIPT_NULL_END)
		return -ENOENT;
	if (!length || length > sizeof(bytes))
		return -EINVAL;
	if (memory_read(memory, address, bytes, length))
		return -EFAULT;
	/* It is a C string from now on. */
	for (uint64_t i = 0; i < length; i++)
		strbuf_putc(ret, bytes[i] ? bytes[i] : '?');
	return 0;
}

int script_read_string(struct memory *memory, taddr_t address,
		       struct strbuf *ret)
{
	char bytes[TEXT_MAX];
	long length;

	if (address < SCRIPT_NULL_END)
		return -ENOENT;
	length = memory_read_string(memory, address, bytes, sizeof(bytes));
	if (length <= 0)
		return length ? -EFAULT : -EINVAL;
	strbuf_add(ret, bytes, length);
	return 0;
}

static void add_character(uint32_t c, struct strbuf *out)
{
	static const uint8_t first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	unsigned bytes = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	if (!c || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) {
		strbuf_putc(out, '?');
		return;
	}
	if (bytes == 1) {
		strbuf_putc(out, (char)c);
		return;
	}
	strbuf_putc(out, (char)(first[bytes] | c >> 6 * (bytes - 1)));
	while (--bytes)
		strbuf_putc(out, (char)(0x80 | (c >> 6 * (bytes - 1) & 0x3f)));
}

int script_read_characters(struct memory *memory, taddr_t address,
			   uint64_t count, uint64_t width, struct strbuf *ret)
{
	uint8_t bytes[TEXT_MAX];

	if (address < SCRIPT_NULL_END)
		return -ENOENT;
	if ((width != 1 && width != 2 && width != 4) || !count ||
	    count > sizeof(bytes) / width)
		return -EINVAL;
	if (memory_read(memory, address, bytes, count * width))
		return -EFAULT;
	for (uint64_t i = 0; i < count; i++) {
		uint32_t c = 0;

		for (uint64_t j = width; j-- > 0;)
			c = c << 8 | bytes[i * width + j];
		add_character(c, ret);
	}
	return 0;
}
