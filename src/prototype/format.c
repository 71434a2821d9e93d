/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/format.h"

#include <string.h>

static bool format_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

uint64_t format_read_number(struct format_reader *reader)
{
	uint64_t number = 0;

	for (; format_is_digit(*reader->at); reader->at++)
		if (number <= INT32_MAX)
			number = number * 10 + (*reader->at - '0');
	return number < INT32_MAX ? number : INT32_MAX;
}

unsigned format_read_position(struct format_reader *reader)
{
	const char *before = reader->at;
	uint64_t number = format_read_number(reader);

	if (number && *reader->at == '$') {
		reader->at++;
		return number;
	}
	reader->at = before;
	return 0;
}

/* C23: %w32d, %wf32d; those that are fast are as large as a long. */
static uint8_t read_bits(struct format_reader *reader)
{
	bool fast = reader->at[1] == 'f';
	uint64_t bits;

	reader->at += fast ? 2 : 1;
	bits = format_read_number(reader);
	if (fast && bits > 8)
		return bits == 64 ? 8 : TYPE_WORD;
	return bits / 8 ? bits / 8 : 4;
}

uint8_t format_read_size(struct format_reader *reader)
{
	char c = *reader->at;

	if (c == 'w')
		return read_bits(reader);
	if (!c || !strchr("hlqLjztZ", c))
		return 4;
	reader->at++;
	if ((c == 'h' || c == 'l') && *reader->at == c) {
		reader->at++;
		return c == 'h' ? 1 : 8;
	}
	if (c == 'h')
		return 2;
	return c == 'q' || c == 'L' || c == 'j' ? 8 : TYPE_WORD;
}

struct type format_integer(uint8_t size, bool is_signed, enum lens lens)
{
	return (struct type){ .kind = TYPE_INTEGER,
			      .size = size,
			      .is_signed = is_signed,
			      .lens = lens };
}

int format_add(struct format_reader *reader, unsigned position,
	       const struct format_argument *argument)
{
	unsigned index = position ? position - 1 : reader->next++;
	struct format *format = reader->to;

	if (index >= FORMAT_ARGUMENTS_MAX) {
		format->stopped = true;
		return -1;
	}
	/* The same one may be shown in several ways. */
	if (format->arguments[index].kind == FORMAT_NOTHING)
		format->arguments[index] = *argument;
	if (format->count <= index)
		format->count = index + 1;
	return index;
}

void format_finish(struct format *format)
{
	for (unsigned i = 0; i < format->count; i++) {
		if (format->arguments[i].kind != FORMAT_NOTHING)
			continue;
		format->count = i;
		format->stopped = true;
	}
}

/* The * of a width or precision. */
static int read_star(struct format_reader *reader)
{
	struct format_argument argument = {
		.kind = FORMAT_VALUE,
		.type = format_integer(4, true, LENS_PLAIN),
	};

	reader->at++;
	return format_add(reader, format_read_position(reader), &argument);
}

static void read_width(struct format_reader *reader)
{
	while (*reader->at && strchr("-+ #0'I", *reader->at))
		reader->at++;
	if (*reader->at == '*')
		read_star(reader);
	else
		format_read_number(reader);
}

static void read_precision(struct format_reader *reader,
			   struct format_argument *ret)
{
	ret->precision = UINT64_MAX;
	ret->precision_from = -1;
	if (*reader->at != '.')
		return;
	reader->at++;
	if (*reader->at == '*')
		ret->precision_from = read_star(reader);
	else
		ret->precision = format_read_number(reader);
}

/* An int is passed; an unsigned char, or a wide one, is printed. */
static struct type character_type(uint8_t size)
{
	return format_integer(size == TYPE_WORD ? 4 : 1, false, LENS_CHAR);
}

static bool set_integer(char letter, uint8_t size, struct type *ret)
{
	static const struct {
		char letter;
		bool is_signed;
		enum lens lens;
	} integers[] = {
		{ 'd', true, LENS_PLAIN },   { 'i', true, LENS_PLAIN },
		{ 'u', false, LENS_PLAIN },  { 'o', false, LENS_OCTAL },
		{ 'x', false, LENS_HEX },    { 'X', false, LENS_HEX },
		{ 'b', false, LENS_BINARY }, { 'B', false, LENS_BINARY },
	};

	for (size_t i = 0; i < ARRAY_SIZE(integers); i++) {
		if (integers[i].letter != letter)
			continue;
		*ret = format_integer(size, integers[i].is_signed,
				      integers[i].lens);
		return true;
	}
	return false;
}

/* What an argument for this letter is; false when nobody knows. */
static bool set_argument(char letter, uint8_t size, bool is_long_double,
			 struct format_argument *ret)
{
	ret->kind = FORMAT_VALUE;
	if (!letter)
		return false;
	if (set_integer(letter, size, &ret->type))
		return true;
	if (strchr("eEfFgGaA", letter)) {
		ret->type = (struct type){
			.kind = TYPE_FLOAT,
			.size = is_long_double ? TYPE_EXTENDED : 8,
			.lens = letter == 'a' || letter == 'A' ? LENS_HEX :
								 LENS_PLAIN,
		};
	} else if (letter == 's' || letter == 'S') {
		ret->kind = FORMAT_TEXT;
		ret->unit = letter == 'S' || size == TYPE_WORD ? 4 : 1;
	} else if (letter == 'c' || letter == 'C') {
		ret->type = character_type(letter == 'C' ? TYPE_WORD : size);
	} else if (letter == 'p' || letter == 'n') {
		ret->type = *type_builtin("addr", 4);
	} else {
		return false;
	}
	return true;
}

static void read_conversion(struct format_reader *reader)
{
	struct format_argument argument = { 0 };
	unsigned position = format_read_position(reader);
	bool is_long_double;
	uint8_t size;

	read_width(reader);
	read_precision(reader, &argument);
	is_long_double = *reader->at == 'L';
	size = format_read_size(reader);
	if (*reader->at == '%' || *reader->at == 'm') {
		reader->at++;
		return;
	}
	if (!set_argument(*reader->at, size, is_long_double, &argument)) {
		reader->to->stopped = true;
		return;
	}
	reader->at++;
	format_add(reader, position, &argument);
}

void format_read(const char *text, struct format *ret)
{
	struct format_reader reader = { .at = text, .to = ret };

	*ret = (struct format){ 0 };
	while (!ret->stopped && (reader.at = strchr(reader.at, '%'))) {
		reader.at++;
		read_conversion(&reader);
	}
	format_finish(ret);
}
