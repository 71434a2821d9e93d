/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/format.h"

#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *read_precision(const char *at, struct conversion *ret)
{
	if (*at == '*') {
		ret->star_precision = true;
		return at + 1;
	}
	ret->precision = 0;
	for (; is_digit(*at); at++)
		if (ret->precision < INT32_MAX)
			ret->precision = ret->precision * 10 + (*at - '0');
	return at;
}

/* Flags, width and precision. */
static const char *read_prefix(const char *at, struct conversion *ret)
{
	while (*at && strchr("-+ #0'I", *at))
		at++;
	if (*at == '*') {
		ret->star_width = true;
		at++;
	}
	while (is_digit(*at))
		at++;
	return *at == '.' ? read_precision(at + 1, ret) : at;
}

/* The size of an integer; TYPE_WORD where it is that of a long. */
static const char *read_size(const char *at, uint8_t *ret)
{
	*ret = 4;
	if (strncmp(at, "hh", 2) == 0 || strncmp(at, "ll", 2) == 0) {
		*ret = *at == 'h' ? 1 : 8;
		return at + 2;
	}
	if (!*at || !strchr("hlqLjztZ", *at))
		return at;
	if (*at == 'h')
		*ret = 2;
	else if (*at == 'q' || *at == 'L' || *at == 'j')
		*ret = 8;
	else
		*ret = TYPE_WORD;
	return at + 1;
}

static void take_integer(struct conversion *ret, uint8_t size, bool is_signed,
			 enum lens lens)
{
	ret->kind = CONVERSION_VALUE;
	ret->type = (struct type){ .kind = TYPE_INTEGER, .size = size,
				   .is_signed = is_signed, .lens = lens };
}

static void read_letter(char letter, uint8_t size, struct conversion *ret)
{
	switch (letter) {
	case 'd':
	case 'i':
		take_integer(ret, size, true, LENS_PLAIN);
		break;
	case 'u':
		take_integer(ret, size, false, LENS_PLAIN);
		break;
	case 'o':
		take_integer(ret, size, false, LENS_OCTAL);
		break;
	case 'x':
	case 'X':
	case 'b':
	case 'B':
		take_integer(ret, size, false, LENS_HEX);
		break;
	case 'c':
	case 'C':
		/* An unsigned char, or a wide one; int is what is passed. */
		take_integer(ret, size == 4 && letter == 'c' ? 1 : 4,
			     size == 4 && letter == 'c', LENS_CHAR);
		break;
	case 's':
		ret->kind = CONVERSION_STRING;
		if (size == 4)
			break;
		/* fall through */
	case 'S': /* wide: its address */
	case 'p':
	case 'n':
		ret->kind = CONVERSION_VALUE;
		ret->type = *type_builtin("addr", 4);
		break;
	case 'm':
	case '%':
		ret->kind = CONVERSION_NONE;
		break;
	default:
		ret->kind = CONVERSION_UNKNOWN;
	}
}

const char *format_next(const char *format, struct conversion *ret)
{
	const char *at = strchr(format, '%');
	uint8_t size;

	if (!at)
		return NULL;
	*ret = (struct conversion){ .precision = FORMAT_NO_PRECISION };
	at = read_prefix(at + 1, ret);
	at = read_size(at, &size);
	read_letter(*at, size, ret);
	return *at ? at + 1 : at;
}
