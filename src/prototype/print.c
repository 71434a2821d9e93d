/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/failure.h"
#include "prototype/number.h"
#include "prototype/numbers.h"
#include "prototype/printer.h"

/* Enough for what a person reads; -A says how much that is. */
static unsigned values_limit(const struct print_limits *limits)
{
	uint64_t limit = 256 + 64 * (uint64_t)limits->array_elements;

	return limit < PRINTED_VALUES_MAX ? limit : PRINTED_VALUES_MAX;
}

static void printer_init(struct printer *printer,
			 const struct prototype *prototype,
			 const struct call_values *values,
			 const struct print_limits *limits,
			 struct value_writer *writer)
{
	printer->values = values;
	printer->limits = limits;
	printer->writer = writer;
	printer->open = NULL;
	printer->left = values_limit(limits);
	printer->depth = 0;
	printer->failed = false;
	arguments_init(&printer->arguments, prototype, values);
}

static void print_format_behind(struct printer *printer,
				const struct type *type, struct place place)
{
	uint64_t address;

	if (number_read(place, type, print_word_size(printer), &address))
		return;
	if (type->lens == LENS_SCAN)
		print_scan_arguments(printer, type, address);
	else
		print_format_arguments(printer, type, address);
}

/* What lies there is what lay there before. */
static bool is_unfilled(const struct printer *printer,
			const struct parameter *parameter,
			const struct type *type)
{
	return printer->failed && parameter->filled &&
	       type->kind == TYPE_POINTER && type->lens != LENS_SCAN;
}

static void print_unfilled(struct printer *printer, unsigned index)
{
	const struct type *type = arguments_type(&printer->arguments, index);
	struct place place;
	uint64_t address;

	if (arguments_place(&printer->arguments, index, &place) ||
	    number_read(place, type, print_word_size(printer), &address))
		print_ops(printer)->unknown(printer->writer);
	else
		print_ops(printer)->address(printer->writer, address);
}

static void print_argument(struct printer *printer, const struct type *type,
			   unsigned index)
{
	struct place place;

	if (arguments_place(&printer->arguments, index, &place)) {
		print_ops(printer)->unknown(printer->writer);
		return;
	}
	print_value(printer, type, place);
	if (type->lens == LENS_FORMAT || type->lens == LENS_SCAN)
		print_format_behind(printer, type, place);
}

/* What it is in this call; NULL: it isn't there. */
static const struct type *type_of(struct printer *printer,
				  const struct parameter *parameter)
{
	const struct alternative *alternatives = parameter->alternatives;

	if (!alternatives)
		return print_condition(printer, &parameter->when) ?
			       parameter->type :
			       NULL;
	for (unsigned i = 0; i < parameter->alternative_count; i++)
		if (print_condition(printer, &alternatives[i].when))
			return alternatives[i].type;
	return NULL;
}

static void print_parameter(struct printer *printer,
			    const struct parameter *parameter, unsigned index)
{
	const struct type *type = type_of(printer, parameter);

	if (!type || type->lens == LENS_HIDE)
		return;
	if (parameter->name && !parameter->unshown)
		print_ops(printer)->name(printer->writer, parameter->name);
	if (is_unfilled(printer, parameter, type))
		print_unfilled(printer, index);
	else
		print_argument(printer, type, index);
}

static void print_parameters(struct printer *printer, unsigned from,
			     unsigned to)
{
	const struct prototype *prototype = printer->arguments.prototype;

	for (unsigned i = from; i < to; i++)
		print_parameter(printer, &prototype->parameters[i], i);
	if (to == prototype->count && prototype->variadic)
		print_ops(printer)->omitted(printer->writer);
}

void print_any_entry(const struct prototype *prototype,
		     const struct call_values *values,
		     const struct print_limits *limits,
		     struct value_writer *writer)
{
	struct printer printer;

	printer_init(&printer, prototype, values, limits, writer);
	if (prototype) {
		print_parameters(&printer, 0, prototype->later);
		return;
	}
	for (unsigned i = 0; i < UNKNOWN_ARGUMENTS; i++)
		print_argument(&printer, &type_guess, i);
}

void prototype_write_entry(const struct prototype *prototype,
			   const struct call_values *values,
			   const struct print_limits *limits,
			   struct value_writer *writer)
{
	if (!numbers_write_entry(prototype, values, limits, writer))
		print_any_entry(prototype, values, limits, writer);
}

void prototype_write_later(const struct prototype *prototype,
			   const struct call_values *values,
			   const struct print_limits *limits,
			   struct value_writer *writer)
{
	struct printer printer;

	if (!prototype || prototype->later == prototype->count)
		return;
	printer_init(&printer, prototype, values, limits, writer);
	printer.failed = failure_happened(&printer.arguments);
	print_parameters(&printer, prototype->later, prototype->count);
}

/* What every function that fails so returns, however its type is shown. */
static void print_minus_one(struct value_writer *writer)
{
	const struct value_number number = {
		.value = UINT64_MAX,
		.is_signed = true,
		.style = NUMBER_DECIMAL,
		.text = "-1",
	};

	writer->ops->number(writer, &number);
}

static void print_result(struct printer *printer)
{
	const struct type *type = arguments_result_type(&printer->arguments);
	struct found_value found;
	struct place place;

	if (type->kind == TYPE_VOID)
		print_ops(printer)->word(printer->writer, "<void>");
	else if (arguments_result(&printer->arguments, &found, &place))
		print_ops(printer)->unknown(printer->writer);
	else if (type->lens != LENS_HIDE)
		print_value(printer, type, place);
}

void print_any_result(const struct prototype *prototype,
		      const struct call_values *values,
		      const struct print_limits *limits,
		      struct value_writer *writer)
{
	struct printer printer;

	printer_init(&printer, prototype, values, limits, writer);
	if (print_style(limits)->raw_results) {
		print_result(&printer);
		return;
	}
	switch (failure_result(&printer.arguments)) {
	case RESULT_MINUS_ONE:
		print_minus_one(writer);
		break;
	case RESULT_NONE:
		writer->ops->unknown(writer);
		break;
	case RESULT_AS_IT_IS:
		print_result(&printer);
		break;
	}
}

void prototype_write_result(const struct prototype *prototype,
			    const struct call_values *values,
			    const struct print_limits *limits,
			    struct value_writer *writer)
{
	if (!numbers_write_result(prototype, values, limits, writer))
		print_any_result(prototype, values, limits, writer);
}

void prototype_print_entry(const struct prototype *prototype,
			   const struct call_values *values,
			   const struct print_limits *limits,
			   struct strbuf *out)
{
	struct text_writer writer = text_writer_to(out, print_style(limits));

	if (!numbers_print_entry(prototype, values, limits, out))
		print_any_entry(prototype, values, limits, &writer.writer);
}

void prototype_print_later(const struct prototype *prototype,
			   const struct call_values *values,
			   const struct print_limits *limits,
			   struct strbuf *out)
{
	struct text_writer writer = text_writer_to(out, print_style(limits));

	prototype_write_later(prototype, values, limits, &writer.writer);
}

void prototype_print_result(const struct prototype *prototype,
			    const struct call_values *values,
			    const struct print_limits *limits,
			    struct strbuf *out)
{
	struct text_writer writer = text_writer_to(out, print_style(limits));
	const char *name;
	int error;

	if (numbers_print_result(prototype, values, limits, out))
		return;
	error = prototype_error(prototype, values);
	name = error_name(error);
	print_any_result(prototype, values, limits, &writer.writer);
	if (print_style(limits)->raw_results)
		return;
	if (name)
		strbuf_printf(out, " %s", name);
	else if (error)
		strbuf_printf(out, " %d", error);
}
