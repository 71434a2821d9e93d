/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/numbers.h"

#include <string.h>

#include "prototype/arguments.h"
#include "prototype/number.h"
#include "prototype/printer.h"
#include "prototype/quote.h"

/* So many integers every calling convention of 64 bits passes in registers. */
#define IN_REGISTERS 6

static const struct parameter guessed[UNKNOWN_ARGUMENTS] = {
	{ .type = &type_guess },
	{ .type = &type_guess },
	{ .type = &type_guess },
	{ .type = &type_guess },
};

/* What is shown of a function that nobody knows. */
static const struct prototype unknown = {
	.result = &type_guess,
	.failure = FAILURE_UNKNOWN,
	.parameters = guessed,
	.count = UNKNOWN_ARGUMENTS,
	.later = UNKNOWN_ARGUMENTS,
};

static bool is_in_register(const struct type *type)
{
	return type->kind == TYPE_POINTER ||
	       (type->kind == TYPE_INTEGER && type->size <= 8);
}

static bool is_address(const struct type *type)
{
	return type->kind == TYPE_POINTER && type->lens == LENS_PLAIN &&
	       (!type->target || type->target->kind == TYPE_VOID);
}

static bool is_number(const struct type *type)
{
	return type->kind == TYPE_INTEGER && type->size <= 8 &&
	       (type->lens == LENS_PLAIN || type->lens == LENS_GUESS ||
		type->lens == LENS_HEX);
}

/* One of bytes, up to a zero. */
static bool is_text(const struct type *type)
{
	const struct type *array = type->target;

	return type->kind == TYPE_POINTER && type->lens == LENS_STRING &&
	       !type->addressed && array && array->kind == TYPE_ARRAY &&
	       array->length && array->length->kind == EXPRESSION_ZERO &&
	       !array->length->limit && !array->length->times &&
	       array->target->kind == TYPE_INTEGER && array->target->size == 1;
}

/* Longer texts are read in parts. */
#define TEXT_MOST 512

static bool is_simple(const struct type *type,
		      const struct print_limits *limits)
{
	return is_number(type) || is_address(type) ||
	       (is_text(type) && limits->string_bytes < TEXT_MOST);
}

static bool is_shown(const struct parameter *parameter,
		     const struct print_limits *limits)
{
	return !parameter->alternatives &&
	       parameter->when.kind == CONDITION_NONE &&
	       is_simple(parameter->type, limits);
}

/* A result that is anything else may be passed like a first argument. */
static bool has_word_result(const struct prototype *prototype)
{
	return prototype->result->kind == TYPE_VOID ||
	       is_in_register(prototype->result);
}

static bool are_in_registers(const struct call_values *values)
{
	return values->arch->word_size == 8 && !values->system_call;
}

static bool fits(const struct prototype *prototype,
		 const struct call_values *values,
		 const struct print_limits *limits)
{
	unsigned i;

	if (!are_in_registers(values) || prototype->later > IN_REGISTERS ||
	    !has_word_result(prototype) ||
	    (prototype->variadic && prototype->later == prototype->count))
		return false;
	for (i = 0; i < prototype->later; i++)
		if (!is_shown(&prototype->parameters[i], limits))
			return false;
	return true;
}

static void add_guess(const struct type *type, uint64_t word,
		      struct strbuf *out)
{
	if (number_is_small(word))
		strbuf_add_decimal(out, word, type->is_signed);
	else
		strbuf_add_hex(out, number_unsigned(type, word, 8));
}

/* What was read of a text: one byte more than is shown tells whether it goes on. */
struct text_start {
	char bytes[TEXT_MOST];
	size_t read, shown;
	bool cut;
};

static void read_text(const struct call_values *values,
		      const struct print_limits *limits, taddr_t address,
		      struct text_start *ret)
{
	const size_t most = limits->string_bytes;
	const char *end;

	ret->read =
		memory_read_some(values->memory, address, ret->bytes, most + 1);
	end = memchr(ret->bytes, '\0', ret->read);
	ret->cut = !end;
	ret->shown = end ? (size_t)(end - ret->bytes) : ret->read;
	if (ret->shown > most)
		ret->shown = most;
}

static void add_text(const struct call_values *values,
		     const struct print_limits *limits, taddr_t address,
		     struct strbuf *out)
{
	struct text_start text;

	read_text(values, limits, address, &text);
	if (!text.read) {
		strbuf_add_hex(out, address);
		strbuf_putc(out, '?');
		return;
	}
	quote_text(out, print_style(limits)->quotes, text.bytes, text.shown);
	if (text.cut)
		strbuf_put(out, "...");
}

static void add_pointer(const struct type *type,
			const struct call_values *values,
			const struct print_limits *limits, uint64_t word,
			struct strbuf *out)
{
	const struct value_style *style = print_style(limits);
	const bool with_text = type->lens == LENS_STRING;

	if (!word)
		strbuf_put(out, with_text ? style->nil : style->null);
	else if (with_text)
		add_text(values, limits, word, out);
	else
		strbuf_add_hex(out, word);
}

static void add_value(const struct type *type, const struct call_values *values,
		      const struct print_limits *limits, uint64_t word,
		      struct strbuf *out)
{
	if (type->kind == TYPE_POINTER)
		add_pointer(type, values, limits, word, out);
	else if (type->lens == LENS_GUESS)
		add_guess(type, word, out);
	else if (type->lens == LENS_HEX)
		strbuf_add_hex(out, number_unsigned(type, word, 8));
	else
		strbuf_add_decimal(out, word, type->is_signed);
}

static void add_argument(const struct parameter *parameter,
			 const struct call_values *values,
			 const struct print_limits *limits, uint64_t word,
			 struct strbuf *out)
{
	const struct type *type = parameter->type;

	if (parameter->name && !parameter->unshown &&
	    print_style(limits)->names) {
		strbuf_put(out, parameter->name);
		strbuf_putc(out, '=');
	}
	add_value(type, values, limits, number_narrow(type, word, 8), out);
}

bool numbers_print_entry(const struct prototype *prototype,
			 const struct call_values *values,
			 const struct print_limits *limits, struct strbuf *out)
{
	uint64_t word;
	unsigned i;

	if (!prototype)
		prototype = &unknown;
	if (!fits(prototype, values, limits))
		return false;
	for (i = 0; i < prototype->later; i++) {
		if (i)
			strbuf_put(out, ", ");
		(void)values->arch->argument(values->entry_regs, values->memory,
					     i, &word);
		add_argument(&prototype->parameters[i], values, limits, word,
			     out);
	}
	return true;
}

bool numbers_result(const struct type *type, const struct call_values *values,
		    uint64_t *ret)
{
	if (!are_in_registers(values) || !values->result_regs ||
	    !is_in_register(type))
		return false;
	*ret = number_narrow(type, values->arch->result(values->result_regs),
			     8);
	return true;
}

bool numbers_print_result(const struct prototype *prototype,
			  const struct call_values *values,
			  const struct print_limits *limits, struct strbuf *out)
{
	const struct type *type;
	uint64_t word;

	if (!are_in_registers(values))
		return false;
	type = prototype ? prototype->result : &type_guess;
	if (type->kind == TYPE_VOID) {
		strbuf_put(out, "<void>");
		return true;
	}
	if (!is_simple(type, limits) || !numbers_result(type, values, &word) ||
	    prototype_has_failed(prototype, values))
		return false;
	add_value(type, values, limits, word, out);
	return true;
}

/* ---- the same, to any writer ---- */

static void write_text(const struct call_values *values,
		       const struct print_limits *limits, taddr_t address,
		       struct value_writer *writer)
{
	struct text_start text;
	struct value_text shown;

	read_text(values, limits, address, &text);
	if (!text.read) {
		writer->ops->unreadable(writer, address);
		return;
	}
	shown = (struct value_text){
		.bytes = text.bytes,
		.length = text.shown,
		.cut = text.cut,
	};
	writer->ops->text(writer, &shown);
}

static void write_pointer(const struct type *type,
			  const struct call_values *values,
			  const struct print_limits *limits, uint64_t word,
			  struct value_writer *writer)
{
	if (type->lens != LENS_STRING)
		writer->ops->address(writer, word);
	else if (word)
		write_text(values, limits, word, writer);
	else
		writer->ops->null(writer);
}

static void write_value(const struct type *type,
			const struct call_values *values,
			const struct print_limits *limits, uint64_t word,
			struct value_writer *writer)
{
	struct printer printer;

	if (type->kind == TYPE_POINTER) {
		write_pointer(type, values, limits, word, writer);
		return;
	}
	/* Its places are of no use here, and many. */
	printer.values = values;
	printer.limits = limits;
	printer.writer = writer;
	print_integer(&printer, type, word);
}

bool numbers_write_entry(const struct prototype *prototype,
			 const struct call_values *values,
			 const struct print_limits *limits,
			 struct value_writer *writer)
{
	unsigned i;

	if (!prototype)
		prototype = &unknown;
	if (!fits(prototype, values, limits))
		return false;
	for (i = 0; i < prototype->later; i++) {
		const struct parameter *one = &prototype->parameters[i];
		uint64_t word;

		(void)values->arch->argument(values->entry_regs, values->memory,
					     i, &word);
		if (one->name && !one->unshown)
			writer->ops->name(writer, one->name);
		write_value(one->type, values, limits,
			    number_narrow(one->type, word, 8), writer);
	}
	return true;
}

bool numbers_write_result(const struct prototype *prototype,
			  const struct call_values *values,
			  const struct print_limits *limits,
			  struct value_writer *writer)
{
	const struct type *type = prototype ? prototype->result : &type_guess;
	uint64_t word;

	if (!is_simple(type, limits) || !numbers_result(type, values, &word) ||
	    prototype_has_failed(prototype, values))
		return false;
	write_value(type, values, limits, word, writer);
	return true;
}
