/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/decimal.h"
#include "base/strbuf.h"

/* Logs consist of numbers: printf() would take most of a line's time. */

static void add_between(struct strbuf *buf, const char *from, const char *end)
{
	strbuf_add(buf, from, end - from);
}

void strbuf_add_decimal(struct strbuf *buf, uint64_t word, bool is_signed)
{
	char digits[DECIMAL_SIZE];

	add_between(buf, decimal_text(word, is_signed, digits),
		    digits + DECIMAL_SIZE - 1);
}

static const char hex_digits[] = "0123456789abcdef";

void strbuf_add_hex_bytes(struct strbuf *buf, const void *bytes, size_t n)
{
	const uint8_t *byte = bytes, *const end = byte + n;
	char *at = strbuf_reserve(buf, 2 * n);

	for (; byte < end; byte++) {
		*at++ = hex_digits[*byte >> 4];
		*at++ = hex_digits[*byte & 15];
	}
	strbuf_end_at(buf, at);
}

void strbuf_add_hex(struct strbuf *buf, uint64_t word)
{
	char text[2 + 16], *const end = text + sizeof(text), *at = end;

	if (!word) {
		strbuf_putc(buf, '0');
		return;
	}
	for (; word; word >>= 4)
		*--at = hex_digits[word & 15];
	*--at = 'x';
	*--at = '0';
	add_between(buf, at, end);
}

/* A point and so many digits, with the zeros before the number. */
static void add_fraction(struct strbuf *buf, uint64_t number, uint64_t one,
			 unsigned count)
{
	char digits[DECIMAL_SIZE], *at = digits + DECIMAL_SIZE - 2 - count;

	/* The 1 is what keeps the zeros behind it. */
	(void)decimal_text(one + number, false, digits);
	*at = '.';
	add_between(buf, at, digits + DECIMAL_SIZE - 1);
}

void strbuf_add_micros(struct strbuf *buf, uint64_t ns)
{
	add_fraction(buf, ns % 1000000000 / 1000, 1000000, 6);
}

void strbuf_add_nanos(struct strbuf *buf, uint64_t ns)
{
	add_fraction(buf, ns % 1000000000, 1000000000, 9);
}
