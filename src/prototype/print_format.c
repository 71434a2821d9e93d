/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/xalloc.h"
#include "prototype/format.h"
#include "prototype/number.h"
#include "prototype/printer.h"

/* A format that is longer ends in "...". */
#define FORMAT_BYTES_MAX 4096

/* A further argument of the call, found before any of them is shown. */
struct further {
	struct found_value found;
	struct place place;
	int err;
	uint64_t word; /* of an integer or pointer */
};

struct rest {
	struct format format;
	struct further list[FORMAT_ARGUMENTS_MAX];
	char text[FORMAT_BYTES_MAX];
};

static void find_all(struct printer *printer, struct rest *rest,
		     bool all_addresses)
{
	const struct type *address = type_builtin("addr", 4);

	for (unsigned i = 0; i < rest->format.count; i++) {
		const struct format_argument *argument =
			&rest->format.arguments[i];
		struct further *further = &rest->list[i];
		const struct type *type = &argument->type;
		int err;

		if (all_addresses || argument->kind == FORMAT_TEXT)
			type = address;
		further->err = arguments_further(&printer->arguments, type,
						 &further->found,
						 &further->place);
		if (further->err)
			continue;
		err = number_read(further->place, type,
				  print_word_size(printer), &further->word);
		if (err && type == address)
			further->err = err;
	}
}

static void print_characters(struct printer *printer,
			     const struct format_argument *argument,
			     taddr_t address, uint64_t size)
{
	struct text text = {
		.place = place_in(printer->values->memory, address),
		.size = size,
		.unit = argument->unit,
		.whole = argument->whole,
	};

	if (address)
		print_text(printer, &text);
	else
		print_ops(printer)->null(printer->writer);
}

/* With a precision it may have no NUL behind it; a negative one is none. */
static uint64_t precision_of(const struct rest *rest,
			     const struct format_argument *argument)
{
	const struct further *from;

	if (argument->precision_from < 0)
		return argument->precision;
	from = &rest->list[argument->precision_from];
	return from->err || (int64_t)from->word < 0 ? UINT64_MAX : from->word;
}

static void print_printed(struct printer *printer, const struct rest *rest,
			  unsigned index)
{
	const struct format_argument *argument = &rest->format.arguments[index];
	const struct further *further = &rest->list[index];

	if (further->err)
		print_ops(printer)->unknown(printer->writer);
	else if (argument->kind == FORMAT_VALUE)
		print_value(printer, &argument->type, further->place);
	else
		print_characters(printer, argument, further->word,
				 precision_of(rest, argument));
}

/* How many values scanf says that it has stored. */
static uint64_t stored_count(struct printer *printer)
{
	const struct expression result = { .kind = EXPRESSION_RESULT };
	uint64_t count;

	return print_count(printer, &result, &count) ? 0 : count;
}

static void print_scanned(struct printer *printer, const struct rest *rest,
			  unsigned index, uint64_t stored)
{
	const struct format_argument *argument = &rest->format.arguments[index];
	const struct further *further = &rest->list[index];

	if (further->err)
		print_ops(printer)->unknown(printer->writer);
	else if (!further->word || argument->order >= stored)
		print_ops(printer)->address(printer->writer, further->word);
	else if (argument->kind == FORMAT_TEXT)
		print_characters(printer, argument, further->word,
				 argument->precision);
	else
		print_value(printer, &argument->type,
			    place_in(printer->values->memory, further->word));
}

/* Of a wide format, what isn't ASCII is of no interest. */
static long read_wide(struct printer *printer, taddr_t address, unsigned unit,
		      char *ret, size_t room)
{
	size_t length = 0;
	uint32_t c = 0;

	while (length < room - 1 &&
	       memory_read(printer->values->memory, address + length * unit, &c,
			   unit) == 0 &&
	       c)
		ret[length++] = c < 0x80 ? (char)c : ' ';
	ret[length] = '\0';
	return length;
}

static long read_text(struct printer *printer, const struct type *type,
		      taddr_t address, char *ret, size_t room)
{
	const struct type *text = type->target;

	if (text->kind == TYPE_ARRAY && text->target->size > 1)
		return read_wide(printer, address,
				 text->target->size == 2 ? 2 : 4, ret, room);
	return memory_read_string(printer->values->memory, address, ret, room);
}

/* Reads the format; its arguments come next. NULL: it can't be read. */
static struct rest *read_format(struct printer *printer,
				const struct type *type, taddr_t address,
				void (*read)(const char *, struct format *))
{
	struct rest *rest = xmalloc(sizeof(*rest));
	long length = read_text(printer, type, address, rest->text,
				sizeof(rest->text));

	if (length < 0) {
		free(rest);
		return NULL;
	}
	read(rest->text, &rest->format);
	if (length == sizeof(rest->text) - 1)
		rest->format.stopped = true;
	return rest;
}

void print_format_arguments(struct printer *printer, const struct type *type,
			    taddr_t format)
{
	struct rest *rest = read_format(printer, type, format, format_read);

	if (!rest)
		return;
	find_all(printer, rest, false);
	for (unsigned i = 0; i < rest->format.count; i++)
		print_printed(printer, rest, i);
	if (rest->format.stopped)
		print_ops(printer)->omitted(printer->writer);
	free(rest);
}

void print_scan_arguments(struct printer *printer, const struct type *type,
			  taddr_t format)
{
	struct rest *rest =
		read_format(printer, type, format, format_read_scan);
	uint64_t stored = stored_count(printer);

	if (!rest)
		return;
	find_all(printer, rest, true);
	for (unsigned i = 0; i < rest->format.count; i++)
		print_scanned(printer, rest, i, stored);
	if (rest->format.stopped)
		print_ops(printer)->omitted(printer->writer);
	free(rest);
}
