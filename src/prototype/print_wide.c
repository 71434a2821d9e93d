/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "prototype/printer.h"

/* Integers of 128 bits. */

__extension__ typedef unsigned __int128 wide;

/* The digits of a number, from the end of a buffer; where they begin. */
static char *write_digits(wide value, unsigned base, char *end)
{
	*--end = '\0';
	do {
		*--end = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	return end;
}

static char *write_based(wide value, enum lens lens, char *end)
{
	unsigned base = lens == LENS_HEX ? 16 : lens == LENS_OCTAL ? 8 : 2;
	char *at = write_digits(value, base, end);

	if (value && base != 8)
		*--at = base == 16 ? 'x' : 'b';
	if (value)
		*--at = '0';
	return at;
}

static char *write_decimal(wide value, bool negative, char *end)
{
	char *at = write_digits(negative ? -value : value, 10, end);

	if (negative)
		*--at = '-';
	return at;
}

/* Those that fit into 64 bits are as good as any other integer. */
static bool is_narrow(const struct type *type, const uint64_t *words)
{
	if (type->is_signed)
		return words[1] == (uint64_t)((int64_t)words[0] >> 63);
	return !words[1];
}

void print_wide_integer(struct printer *printer, const struct type *type,
			struct place place)
{
	struct type same = *type;
	uint64_t words[2];
	char text[140], *end = text + sizeof(text), *at;
	bool negative;
	wide value;

	if (memory_read(place.memory, place.address, words, sizeof(words))) {
		print_ops(printer)->unreadable(printer->writer, place.address);
		return;
	}
	negative = type->is_signed && (int64_t)words[1] < 0;
	same.size = sizeof(uint64_t);
	memcpy(&value, words, sizeof(value));
	if (type->lens == LENS_BITS)
		print_bits(printer, place, sizeof(words));
	else if (is_narrow(type, words) &&
		 (!negative || type->lens == LENS_PLAIN))
		print_integer(printer, &same, words[0]);
	else {
		bool based = type->lens == LENS_HEX ||
			     type->lens == LENS_OCTAL ||
			     type->lens == LENS_BINARY;

		at = based ? write_based(value, type->lens, end) :
			     write_decimal(value, negative, end);
		print_ops(printer)->word(printer->writer, at);
	}
}
