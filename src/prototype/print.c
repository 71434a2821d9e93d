/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "prototype/arguments.h"
#include "prototype/printer.h"

/* What is printed of a function that nobody has described. */
#define UNKNOWN_ARGUMENTS 4

void print_separator(struct printer *printer)
{
	if (printer->out->length > printer->start)
		strbuf_puts(printer->out, ", ");
}

void print_unreadable(struct printer *printer, taddr_t address)
{
	strbuf_printf(printer->out, "%#llx?", (unsigned long long)address);
}

/* The number that an argument or result is, or points to. */
static int count_from(struct printer *printer, const struct type *type,
		      uint64_t word, uint64_t *ret)
{
	unsigned word_size = printer->values->arch->word_size;

	if (type->kind == TYPE_POINTER &&
	    type->target->kind == TYPE_INTEGER) {
		taddr_t address = word;

		type = type->target;
		word = 0;
		if (memory_read(printer->values->memory, address, &word,
				type_size(type, word_size)) < 0)
			return -ENODATA;
		word = type_narrow(type, word, word_size);
	}
	if (type->kind != TYPE_INTEGER ||
	    (type->is_signed && (int64_t)word < 0))
		return -ENODATA;
	*ret = word;
	return 0;
}

static int count_from_argument(struct printer *printer, uint64_t number,
			       uint64_t *ret)
{
	const struct prototype *prototype = printer->prototype;
	const struct call_values *values = printer->values;
	const struct type *type;
	uint64_t word;
	unsigned slot;

	if (!prototype || number < 1 || number > prototype->count)
		return -ENODATA;
	type = prototype->parameters[number - 1].type;
	slot = arguments_slot_of(values, prototype, number - 1);
	if (arguments_read(values, type, slot, &word) < 0)
		return -ENODATA;
	return count_from(printer, type, word, ret);
}

static int count_from_result(struct printer *printer, uint64_t *ret)
{
	const struct prototype *prototype = printer->prototype;
	uint64_t word;

	if (!prototype ||
	    arguments_result(printer->values, prototype->result, &word) < 0)
		return -ENODATA;
	return count_from(printer, prototype->result, word, ret);
}

int print_count(struct printer *printer, const struct expression *length,
		uint64_t *ret)
{
	while (length && length->kind == EXPRESSION_ZERO)
		length = length->limit;
	*ret = UINT64_MAX;
	if (!length)
		return 0;
	switch (length->kind) {
	case EXPRESSION_NUMBER:
		*ret = length->number;
		return 0;
	case EXPRESSION_ARGUMENT:
		return count_from_argument(printer, length->number, ret);
	case EXPRESSION_RESULT:
		return count_from_result(printer, ret);
	case EXPRESSION_ELEMENT: /* there is no struct around arguments */
	case EXPRESSION_ZERO:
		break;
	}
	return -ENODATA;
}

static void print_argument(struct printer *printer, const struct type *type,
			   unsigned slot)
{
	uint64_t word;

	if (type->lens == LENS_HIDE)
		return;
	print_separator(printer);
	if (arguments_read(printer->values, type, slot, &word) < 0) {
		strbuf_putc(printer->out, '?');
		return;
	}
	print_word(printer, type, word);
	if (type->lens == LENS_FORMAT)
		print_format_arguments(printer, word, slot + 1);
}

static void print_parameters(struct printer *printer, unsigned from,
			     unsigned to)
{
	const struct prototype *prototype = printer->prototype;
	unsigned slot = arguments_slot_of(printer->values, prototype, from);

	for (unsigned i = from; i < to; i++) {
		const struct type *type = prototype->parameters[i].type;

		print_argument(printer, type, slot);
		slot += arguments_slots(printer->values, type);
	}
}

static struct printer printer_of(const struct prototype *prototype,
				 const struct call_values *values,
				 const struct print_limits *limits,
				 struct strbuf *out)
{
	return (struct printer){
		.prototype = prototype,
		.values = values,
		.limits = limits,
		.out = out,
		.start = out->length,
		.left = PRINTED_VALUES_MAX,
	};
}

void prototype_print_entry(const struct prototype *prototype,
			   const struct call_values *values,
			   const struct print_limits *limits,
			   struct strbuf *out)
{
	struct printer printer = printer_of(prototype, values, limits, out);

	if (prototype) {
		print_parameters(&printer, 0, prototype->later);
		return;
	}
	for (unsigned slot = 0; slot < UNKNOWN_ARGUMENTS; slot++)
		print_argument(&printer, &type_guess, slot);
}

void prototype_print_later(const struct prototype *prototype,
			   const struct call_values *values,
			   const struct print_limits *limits,
			   struct strbuf *out)
{
	struct printer printer = printer_of(prototype, values, limits, out);

	if (prototype)
		print_parameters(&printer, prototype->later,
				 prototype->count);
}

void prototype_print_result(const struct prototype *prototype,
			    const struct call_values *values,
			    const struct print_limits *limits,
			    struct strbuf *out)
{
	struct printer printer = printer_of(prototype, values, limits, out);
	const struct type *type = prototype ? prototype->result : &type_guess;
	uint64_t word;

	if (type->kind == TYPE_VOID)
		strbuf_puts(out, "<void>");
	else if (arguments_result(values, type, &word) < 0)
		strbuf_putc(out, '?');
	else if (type->lens != LENS_HIDE)
		print_word(&printer, type, word);
}
