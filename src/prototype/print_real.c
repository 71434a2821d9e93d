/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prototype/layout.h"
#include "prototype/printer.h"

/*
 * We run where the program runs, so our long double is the program's: of ten
 * bytes on x86, a quad elsewhere.
 */
_Static_assert(LDBL_MANT_DIG == 64 || LDBL_MANT_DIG == 113,
	       "long double is neither that of the x87 nor a quad");
#define EXTENDED_BYTES (LDBL_MANT_DIG == 64 ? 10 : 16)

#define REAL_TEXT_MAX 512

static int read_real(struct place place, uint8_t size, long double *ret)
{
	uint8_t bytes[sizeof(long double)] = { 0 };
	float single;
	double twice;
	int err;

	if (size != sizeof(float) && size != sizeof(double) &&
	    size != TYPE_EXTENDED)
		return -ENODATA;
	err = memory_read(place.memory, place.address, bytes,
			  size == TYPE_EXTENDED ? EXTENDED_BYTES : size);
	if (err)
		return err;
	if (size == sizeof(float)) {
		memcpy(&single, bytes, sizeof(single));
		*ret = single;
	} else if (size == sizeof(double)) {
		memcpy(&twice, bytes, sizeof(twice));
		*ret = twice;
	} else {
		memcpy(ret, bytes, sizeof(bytes));
	}
	return 0;
}

/* As many digits as it takes to tell it from its neighbours. */
static int digits(uint8_t size)
{
	if (size == sizeof(float))
		return FLT_DIG;
	return size == sizeof(double) ? DBL_DIG : LDBL_DIG;
}

static bool is_same(const char *text, uint8_t size, long double value)
{
	if (size == sizeof(float))
		return strtof(text, NULL) == (float)value;
	if (size == sizeof(double))
		return strtod(text, NULL) == (double)value;
	return strtold(text, NULL) == value;
}

/* 2 is an integer, 2.0 isn't. */
static void mark_real(char *text)
{
	if (!strpbrk(text, ".einx"))
		strcat(text, ".0");
}

/* False when it would be a long one. */
static bool format_fixed(long double value, char text[REAL_TEXT_MAX])
{
	return snprintf(text, REAL_TEXT_MAX, "%Lf", value) < REAL_TEXT_MAX;
}

static void format_real(const struct printer *printer, long double value,
			const struct type *type, char text[REAL_TEXT_MAX])
{
	int precision = digits(type->size);

	if (type->lens == LENS_HEX && type->size == TYPE_EXTENDED) {
		snprintf(text, REAL_TEXT_MAX, "%La", value);
		return;
	}
	if (type->lens == LENS_HEX) {
		snprintf(text, REAL_TEXT_MAX, "%a", (double)value);
		return;
	}
	if (print_style(printer->limits)->fixed_reals &&
	    format_fixed(value, text))
		return;
	do
		snprintf(text, REAL_TEXT_MAX - 2, "%.*Lg", precision, value);
	while (!isnan(value) && !is_same(text, type->size, value) &&
	       ++precision <= LDBL_DIG + 3);
	mark_real(text);
}

/* There are more kinds of floating-point numbers than we know. */
static void print_failed(struct printer *printer, int err, struct place place)
{
	if (err == -ENODATA)
		print_ops(printer)->unknown(printer->writer);
	else
		print_ops(printer)->unreadable(printer->writer, place.address);
}

void print_real(struct printer *printer, const struct type *type,
		struct place place)
{
	char text[REAL_TEXT_MAX];
	long double value;
	int err = read_real(place, type->size, &value);

	if (err) {
		print_failed(printer, err, place);
		return;
	}
	format_real(printer, value, type, text);
	print_ops(printer)->real(printer->writer, value, text);
}

/* 1.0+2.0i; the second sign is always there. */
void print_complex(struct printer *printer, const struct type *type,
		   struct place place)
{
	uint64_t half = layout_of(type, print_word_size(printer)).size / 2;
	char text[2 * REAL_TEXT_MAX + 2], imaginary[REAL_TEXT_MAX];
	long double values[2];
	int err = read_real(place, type->size, &values[0]) ?:
			  read_real(place_behind(place, half), type->size,
				    &values[1]);

	if (err) {
		print_failed(printer, err, place);
		return;
	}
	format_real(printer, values[0], type, text);
	format_real(printer, values[1], type, imaginary);
	if (imaginary[0] != '-')
		strcat(text, "+");
	strcat(text, imaginary);
	strcat(text, "i");
	print_ops(printer)->word(printer->writer, text);
}
