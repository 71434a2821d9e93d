/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "prototype/format.h"

/* One conversion of a scanf-style format. */
struct scan_conversion {
	unsigned position;
	bool suppressed; /* %*d takes no argument */
	bool allocated;  /* %ms: the argument is where a pointer is put */
	bool is_long_double;
	uint64_t width; /* 0: none */
	uint8_t size;
	char letter;
};

/* [a-z]: a ] in the first place is one of the set. */
static void skip_set(struct format_reader *reader)
{
	const char *at = reader->at;

	if (*at == '^')
		at++;
	if (*at == ']')
		at++;
	while (*at && *at != ']')
		at++;
	reader->at = *at ? at + 1 : at;
}

static struct scan_conversion read_parts(struct format_reader *reader)
{
	struct scan_conversion found = { .position =
						 format_read_position(reader) };

	for (; *reader->at && strchr("*'I", *reader->at); reader->at++)
		if (*reader->at == '*')
			found.suppressed = true;
	found.width = format_read_number(reader);
	if (*reader->at == 'm') {
		found.allocated = true;
		reader->at++;
	}
	found.is_long_double = *reader->at == 'L';
	found.size = format_read_size(reader);
	found.letter = *reader->at;
	if (found.letter)
		reader->at++;
	if (found.letter == '[')
		skip_set(reader);
	return found;
}

static struct type real_type(const struct scan_conversion *conversion)
{
	uint8_t size = conversion->size == TYPE_WORD ? 8 : 4;

	return (struct type){
		.kind = TYPE_FLOAT,
		.size = conversion->is_long_double ? TYPE_EXTENDED : size,
	};
}

static void set_text(const struct scan_conversion *conversion,
		     struct format_argument *ret)
{
	bool wide = conversion->size == TYPE_WORD ||
		    conversion->letter == 'C' || conversion->letter == 'S';
	bool counted = conversion->letter == 'c' || conversion->letter == 'C';

	if (conversion->allocated) {
		ret->type = *type_builtin(wide || counted ? "addr" : "string",
					  wide || counted ? 4 : 6);
	} else if (counted && conversion->width < 2 && !wide) {
		ret->type = *type_builtin("char", 4);
	} else {
		ret->kind = FORMAT_TEXT;
		ret->unit = wide ? 4 : 1;
		ret->whole = counted;
		ret->precision = !counted          ? UINT64_MAX :
				 conversion->width ? conversion->width :
						     1;
		ret->precision_from = -1;
	}
}

/* What the argument points to; false when nobody knows. */
static bool set_target(const struct scan_conversion *conversion,
		       struct format_argument *ret)
{
	ret->kind = FORMAT_VALUE;
	if (!conversion->letter)
		return false;
	if (strchr("din", conversion->letter))
		ret->type = format_integer(conversion->size, true, LENS_PLAIN);
	else if (strchr("xXp", conversion->letter))
		ret->type = format_integer(conversion->letter == 'p' ?
						   TYPE_WORD :
						   conversion->size,
					   false, LENS_HEX);
	else if (conversion->letter == 'o' || conversion->letter == 'u')
		ret->type = format_integer(conversion->size, false,
					   conversion->letter == 'o' ?
						   LENS_OCTAL :
						   LENS_PLAIN);
	else if (strchr("eEfFgGaA", conversion->letter))
		ret->type = real_type(conversion);
	else if (strchr("cCsS[", conversion->letter))
		set_text(conversion, ret);
	else
		return false;
	return true;
}

static void read_conversion(struct format_reader *reader, unsigned *counted)
{
	struct format_argument argument = { .order = *counted };
	struct scan_conversion conversion = read_parts(reader);

	if (conversion.letter == '%')
		return;
	if (!set_target(&conversion, &argument)) {
		reader->to->stopped = true;
		return;
	}
	if (conversion.suppressed)
		return;
	/* %n is written when the one before it was. */
	if (conversion.letter != 'n')
		(*counted)++;
	else if (argument.order)
		argument.order--;
	format_add(reader, conversion.position, &argument);
}

void format_read_scan(const char *text, struct format *ret)
{
	struct format_reader reader = { .at = text, .to = ret };
	unsigned counted = 0;

	*ret = (struct format){ 0 };
	while (!ret->stopped && (reader.at = strchr(reader.at, '%'))) {
		reader.at++;
		read_conversion(&reader, &counted);
	}
	format_finish(ret);
}
