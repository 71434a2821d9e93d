/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/numbers.h"

#include "prototype/arguments.h"
#include "prototype/number.h"

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

static bool is_shown(const struct parameter *parameter)
{
	return !parameter->alternatives &&
	       parameter->when.kind == CONDITION_NONE &&
	       (is_number(parameter->type) || is_address(parameter->type));
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
		 const struct call_values *values)
{
	unsigned i;

	if (!are_in_registers(values) || prototype->later > IN_REGISTERS ||
	    !has_word_result(prototype) ||
	    (prototype->variadic && prototype->later == prototype->count))
		return false;
	for (i = 0; i < prototype->later; i++)
		if (!is_shown(&prototype->parameters[i]))
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

static void add_value(const struct type *type, uint64_t word,
		      const struct value_style *style, struct strbuf *out)
{
	if (type->kind == TYPE_POINTER && !word)
		strbuf_puts(out, style->null);
	else if (type->kind == TYPE_POINTER)
		strbuf_add_hex(out, word);
	else if (type->lens == LENS_GUESS)
		add_guess(type, word, out);
	else if (type->lens == LENS_HEX)
		strbuf_add_hex(out, number_unsigned(type, word, 8));
	else
		strbuf_add_decimal(out, word, type->is_signed);
}

static void add_argument(const struct parameter *parameter, uint64_t word,
			 const struct value_style *style, struct strbuf *out)
{
	const struct type *type = parameter->type;

	if (parameter->name && !parameter->unshown && style->names) {
		strbuf_puts(out, parameter->name);
		strbuf_putc(out, '=');
	}
	add_value(type, number_narrow(type, word, 8), style, out);
}

bool numbers_print_entry(const struct prototype *prototype,
			 const struct call_values *values,
			 const struct print_limits *limits, struct strbuf *out)
{
	const struct value_style *style = print_style(limits);
	uint64_t word;
	unsigned i;

	if (!prototype)
		prototype = &unknown;
	if (!fits(prototype, values))
		return false;
	for (i = 0; i < prototype->later; i++) {
		if (i)
			strbuf_add(out, ", ", 2);
		(void)values->arch->argument(values->entry_regs, values->memory,
					     i, &word);
		add_argument(&prototype->parameters[i], word, style, out);
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
	const struct value_style *style = print_style(limits);
	const struct type *type;
	uint64_t word;

	if (!are_in_registers(values))
		return false;
	type = prototype ? prototype->result : &type_guess;
	if (type->kind == TYPE_VOID) {
		strbuf_puts(out, "<void>");
		return true;
	}
	if ((!is_number(type) && !is_address(type)) ||
	    !numbers_result(type, values, &word) ||
	    prototype_has_failed(prototype, values))
		return false;
	add_value(type, word, style, out);
	return true;
}
