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
	       type->lens != LENS_HIDE;
}

/* Up to a zero, or of as many bytes as an argument says. */
static bool is_length(const struct expression *length)
{
	return length && !length->times &&
	       ((length->kind == EXPRESSION_ZERO && !length->limit) ||
		length->kind == EXPRESSION_ARGUMENT);
}

/* One of bytes. */
static bool is_text(const struct type *type)
{
	const struct type *array = type->target;

	return type->kind == TYPE_POINTER &&
	       (type->lens == LENS_STRING || type->lens == LENS_BYTES) &&
	       array && array->kind == TYPE_ARRAY && is_length(array->length) &&
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

/* Its length is among the arguments that are shown with it, as a number. */
static bool has_known_length(const struct prototype *prototype,
			     const struct type *type)
{
	const struct expression *length = type->target->length;
	const struct parameter *said_by;

	if (length->kind == EXPRESSION_ZERO)
		return true;
	if (length->number < 1 || length->number > prototype->later)
		return false;
	said_by = &prototype->parameters[length->number - 1];
	return !said_by->alternatives && is_number(said_by->type);
}

static bool is_shown(const struct prototype *prototype,
		     const struct parameter *parameter,
		     const struct print_limits *limits)
{
	return !parameter->alternatives &&
	       parameter->when.kind == CONDITION_NONE &&
	       is_simple(parameter->type, limits) &&
	       (!is_text(parameter->type) ||
		has_known_length(prototype, parameter->type));
}

static bool is_shown_result(const struct type *type,
			    const struct print_limits *limits)
{
	return is_simple(type, limits) &&
	       (!is_text(type) ||
		type->target->length->kind == EXPRESSION_ZERO);
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
		if (!is_shown(prototype, &prototype->parameters[i], limits))
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

/* A text, and what was read of it: a byte more than is shown tells whether it goes on. */
struct text_start {
	taddr_t address;
	uint64_t size; /* UINT64_MAX: up to a zero */
	bool whole;    /* … or with all its zeros */
	char bytes[TEXT_MOST];
	size_t wanted, read, shown;
	bool cut;
};

static uint64_t length_from(const struct prototype *prototype,
			    const struct call_values *values, unsigned index,
			    bool *known_ret)
{
	const struct type *type = prototype->parameters[index].type;
	uint64_t word;

	(void)values->arch->argument(values->entry_regs, values->memory, index,
				     &word);
	word = number_narrow(type, word, 8);
	*known_ret = !type->is_signed || (int64_t)word >= 0;
	return word;
}

/* False when it isn't known how long it is. */
static bool find_text(const struct prototype *prototype,
		      const struct type *type, const struct call_values *values,
		      taddr_t address, struct text_start *ret)
{
	const struct expression *length = type->target->length;
	bool known = true;

	ret->address = address;
	ret->whole = type->lens == LENS_BYTES;
	ret->size = UINT64_MAX;
	if (length->kind == EXPRESSION_ARGUMENT)
		ret->size = length_from(prototype, values,
					(unsigned)length->number - 1, &known);
	return known;
}

static void read_text(const struct call_values *values,
		      const struct print_limits *limits,
		      struct text_start *text)
{
	const size_t most = limits->string_bytes;
	const char *end;

	text->wanted = text->size > most ? most + 1 : text->size;
	text->read = text->wanted ?
			     memory_read_some(values->memory, text->address,
					      text->bytes, text->wanted) :
			     0;
	end = text->whole ? NULL : memchr(text->bytes, '\0', text->read);
	text->shown = end ? (size_t)(end - text->bytes) : text->read;
	text->cut = text->shown > most || (!end && text->shown < text->wanted);
	if (text->shown > most)
		text->shown = most;
}

static void add_text(const struct type *type, const struct call_values *values,
		     const struct print_limits *limits, struct text_start *text,
		     struct strbuf *out)
{
	const struct value_style *style = print_style(limits);

	read_text(values, limits, text);
	if (text->wanted && !text->read) {
		strbuf_add_hex(out, text->address);
		strbuf_putc(out, '?');
		return;
	}
	if (type->addressed)
		strbuf_add_hex(out, text->address);
	if (type->addressed && !style->addressed_text)
		return;
	if (type->addressed)
		strbuf_putc(out, ' ');
	quote_text(out, style->quotes, text->bytes, text->shown);
	if (text->cut)
		strbuf_put(out, "...");
}

static void add_pointer(const struct prototype *prototype,
			const struct type *type,
			const struct call_values *values,
			const struct print_limits *limits, uint64_t word,
			struct strbuf *out)
{
	const struct value_style *style = print_style(limits);
	const bool with_text = is_text(type);
	struct text_start text;

	if (!word)
		strbuf_put(out, with_text ? style->nil : style->null);
	else if (with_text && find_text(prototype, type, values, word, &text))
		add_text(type, values, limits, &text, out);
	else
		strbuf_add_hex(out, word);
}

/* To any writer. */
static void write_integer(const struct type *type,
			  const struct call_values *values,
			  const struct print_limits *limits, uint64_t word,
			  struct value_writer *writer)
{
	struct printer printer;

	/* Its places are of no use here, and many. */
	printer.values = values;
	printer.limits = limits;
	printer.writer = writer;
	print_integer(&printer, type, word);
}

static void add_named(const struct type *type, const struct call_values *values,
		      const struct print_limits *limits, uint64_t word,
		      struct strbuf *out)
{
	struct text_writer writer = text_writer_to(out, print_style(limits));

	write_integer(type, values, limits, word, &writer.writer);
}

static void add_value(const struct prototype *prototype,
		      const struct type *type, const struct call_values *values,
		      const struct print_limits *limits, uint64_t word,
		      struct strbuf *out)
{
	if (type->kind == TYPE_POINTER)
		add_pointer(prototype, type, values, limits, word, out);
	else if (type->lens == LENS_GUESS)
		add_guess(type, word, out);
	else if (type->lens == LENS_HEX)
		strbuf_add_hex(out, number_unsigned(type, word, 8));
	else if (type->lens == LENS_PLAIN)
		strbuf_add_decimal(out, word, type->is_signed);
	else
		add_named(type, values, limits, word, out);
}

static void add_argument(const struct prototype *prototype,
			 const struct parameter *parameter,
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
	add_value(prototype, type, values, limits, number_narrow(type, word, 8),
		  out);
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
		add_argument(prototype, &prototype->parameters[i], values,
			     limits, word, out);
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
	if (!is_shown_result(type, limits) ||
	    !numbers_result(type, values, &word) ||
	    prototype_has_failed(prototype, values))
		return false;
	add_value(prototype, type, values, limits, word, out);
	return true;
}

/* ---- the same, to any writer ---- */

static void write_text(const struct type *type,
		       const struct call_values *values,
		       const struct print_limits *limits,
		       struct text_start *text, struct value_writer *writer)
{
	struct value_text shown;

	read_text(values, limits, text);
	if (text->wanted && !text->read) {
		writer->ops->unreadable(writer, text->address);
		return;
	}
	shown = (struct value_text){
		.address = type->addressed ? text->address : 0,
		.bytes = text->bytes,
		.length = text->shown,
		.cut = text->cut,
	};
	writer->ops->text(writer, &shown);
}

static void write_pointer(const struct prototype *prototype,
			  const struct type *type,
			  const struct call_values *values,
			  const struct print_limits *limits, uint64_t word,
			  struct value_writer *writer)
{
	const bool with_text = is_text(type);
	struct text_start text;

	if (with_text && !word)
		writer->ops->null(writer);
	else if (with_text && find_text(prototype, type, values, word, &text))
		write_text(type, values, limits, &text, writer);
	else
		writer->ops->address(writer, word);
}

static void write_value(const struct prototype *prototype,
			const struct type *type,
			const struct call_values *values,
			const struct print_limits *limits, uint64_t word,
			struct value_writer *writer)
{
	if (type->kind == TYPE_POINTER)
		write_pointer(prototype, type, values, limits, word, writer);
	else
		write_integer(type, values, limits, word, writer);
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
		write_value(prototype, one->type, values, limits,
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

	if (!is_shown_result(type, limits) ||
	    !numbers_result(type, values, &word) ||
	    prototype_has_failed(prototype, values))
		return false;
	write_value(prototype, type, values, limits, word, writer);
	return true;
}
