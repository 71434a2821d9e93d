/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/decimal.h"
#include "base/strbuf.h"

/* Logs consist of numbers: printf() would take most of a line's time. */

void strbuf_add_decimal(struct strbuf *buf, uint64_t word, bool is_signed)
{
	char *at = strbuf_reserve(buf, DECIMAL_SIZE);

	if (is_signed && (int64_t)word < 0) {
		*at++ = '-';
		word = -word;
	}
	strbuf_end_at(buf, decimal_put(at, word));
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
	char *at = strbuf_reserve(buf, 2 + 16), *end;

	if (word) {
		memcpy(at, "0x", 2);
		at += 2 + (67 - __builtin_clzll(word)) / 4;
	} else {
		*at++ = '0';
	}
	strbuf_end_at(buf, at);
	for (end = at; word; word >>= 4)
		*--end = hex_digits[word & 15];
}

/* Six digits, with the zeros before the number. */
static char *put_millionths(char *at, unsigned number)
{
	at = decimal_put_pair(at, number / 10000);
	at = decimal_put_pair(at, number / 100 % 100);
	return decimal_put_pair(at, number % 100);
}

void strbuf_add_micros(struct strbuf *buf, uint64_t ns)
{
	char *at = strbuf_reserve(buf, 1 + 6);

	*at++ = '.';
	strbuf_end_at(buf, put_millionths(at, ns % 1000000000 / 1000));
}

void strbuf_add_nanos(struct strbuf *buf, uint64_t ns)
{
	const unsigned fraction = ns % 1000000000;
	char *at = strbuf_reserve(buf, 1 + 9);

	*at++ = '.';
	at = put_millionths(at, fraction / 1000);
	*at++ = (char)('0' + fraction / 100 % 10);
	strbuf_end_at(buf, decimal_put_pair(at, fraction % 100));
}
