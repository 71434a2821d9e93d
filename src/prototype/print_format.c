/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/xalloc.h"
#include "prototype/arguments.h"
#include "prototype/format.h"
#include "prototype/printer.h"

/* A format that is longer, or calls for more, ends in "...". */
#define FORMAT_BYTES_MAX 4096
#define FORMAT_ARGUMENTS_MAX 32

/* The variable arguments of a call, one after the other. */
struct rest {
	struct printer *printer;
	unsigned slot;
	unsigned count;
};

static int next_argument(struct rest *rest, const struct type *type,
			 uint64_t *ret)
{
	unsigned slot = rest->slot;

	rest->slot += arguments_slots(rest->printer->values, type);
	rest->count++;
	print_separator(rest->printer);
	return arguments_read(rest->printer->values, type, slot, ret);
}

static void print_argument(struct rest *rest, const struct type *type)
{
	uint64_t word;

	if (next_argument(rest, type, &word) < 0)
		strbuf_putc(rest->printer->out, '?');
	else
		print_word(rest->printer, type, word);
}

/* The * of a width or precision; a negative one counts as none. */
static int64_t print_star(struct rest *rest)
{
	const struct type *type = type_builtin("int", 3);
	uint64_t word;

	if (next_argument(rest, type, &word) < 0) {
		strbuf_putc(rest->printer->out, '?');
		return FORMAT_NO_PRECISION;
	}
	print_word(rest->printer, type, word);
	return (int64_t)word < 0 ? FORMAT_NO_PRECISION : (int64_t)word;
}

/* With a precision it may have no NUL behind it. */
static void print_string_argument(struct rest *rest, int64_t precision)
{
	struct printer *printer = rest->printer;
	struct text text = { .size = UINT64_MAX };
	int err = next_argument(rest, type_builtin("addr", 4), &text.address);

	if (precision != FORMAT_NO_PRECISION)
		text.size = precision;
	if (err)
		strbuf_putc(printer->out, '?');
	else if (!text.address)
		strbuf_puts(printer->out, "nil");
	else
		print_text(printer, &text);
}

static void print_conversion(struct rest *rest, struct conversion *conversion)
{
	if (conversion->star_width)
		print_star(rest);
	if (conversion->star_precision)
		conversion->precision = print_star(rest);
	if (conversion->kind == CONVERSION_STRING)
		print_string_argument(rest, conversion->precision);
	else if (conversion->kind == CONVERSION_VALUE)
		print_argument(rest, &conversion->type);
}

void print_format_arguments(struct printer *printer, taddr_t format,
			    unsigned slot)
{
	CLEANUP(xfree_cleanup) char *text = xmalloc(FORMAT_BYTES_MAX);
	struct rest rest = { .printer = printer, .slot = slot };
	long length = memory_read_string(printer->values->memory, format, text,
					 FORMAT_BYTES_MAX);
	struct conversion conversion;
	const char *at = text;

	if (length < 0)
		return;
	while ((at = format_next(at, &conversion))) {
		if (conversion.kind == CONVERSION_UNKNOWN ||
		    rest.count >= FORMAT_ARGUMENTS_MAX)
			break;
		print_conversion(&rest, &conversion);
	}
	if (at || length == FORMAT_BYTES_MAX - 1) {
		print_separator(printer);
		strbuf_puts(printer->out, "...");
	}
}
