/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "prototype/layout.h"
#include "prototype/number.h"
#include "prototype/printer.h"

static int count_from(struct printer *printer, struct place place,
		      const struct type *type, uint64_t *ret)
{
	return number_read_count(place, type, print_word_size(printer),
				 printer->values->memory, ret);
}

static int count_from_argument(struct printer *printer, uint64_t number,
			       uint64_t *ret)
{
	struct place place;
	int err;

	if (number < 1 || number > arguments_count(&printer->arguments))
		return -ENODATA;
	err = arguments_place(&printer->arguments, number - 1, &place);
	if (err)
		return err;
	return count_from(printer, place,
			  arguments_type(&printer->arguments, number - 1), ret);
}

static int count_from_result(struct printer *printer, uint64_t *ret)
{
	struct found_value found;
	struct place place;
	int err = arguments_result(&printer->arguments, &found, &place);

	return err ? err :
		     count_from(printer, place,
				arguments_result_type(&printer->arguments),
				ret);
}

static int count_from_element(struct printer *printer, uint64_t number,
			      uint64_t *ret)
{
	const struct open_struct *open = printer->open;
	const struct type_member *member = NULL;
	struct layout_walk walk;
	uint64_t offset = 0;

	if (!open || number < 1 || number > open->type->count)
		return -ENODATA;
	walk = layout_members(open->type, print_word_size(printer));
	while (number--)
		member = layout_next(&walk, &offset);
	if (member->bit_size)
		return number_read_member(place_behind(open->place, offset),
					  member, print_word_size(printer),
					  ret);
	return count_from(printer, place_behind(open->place, offset),
			  member->type, ret);
}

static int count_one(struct printer *printer,
		     const struct expression *expression, uint64_t *ret)
{
	switch (expression->kind) {
	case EXPRESSION_NUMBER:
		*ret = expression->number;
		return 0;
	case EXPRESSION_ARGUMENT:
		return count_from_argument(printer, expression->number, ret);
	case EXPRESSION_RESULT:
		return count_from_result(printer, ret);
	case EXPRESSION_ELEMENT:
		return count_from_element(printer, expression->number, ret);
	case EXPRESSION_ZERO:
		break;
	}
	return -ENODATA;
}

int print_count(struct printer *printer, const struct expression *length,
		uint64_t *ret)
{
	uint64_t product = 1, factor;
	int err = 0;

	while (length && length->kind == EXPRESSION_ZERO)
		length = length->limit;
	if (!length)
		product = UINT64_MAX;
	for (; length && !err; length = length->times) {
		err = count_one(printer, length, &factor);
		if (!err && __builtin_mul_overflow(product, factor, &product))
			product = UINT64_MAX;
	}
	if (!err)
		*ret = product;
	return err;
}

static bool has_value(struct printer *printer,
		      const struct condition *condition,
		      const struct type *type, uint64_t word)
{
	unsigned word_size = print_word_size(printer);

	for (unsigned i = 0; i < condition->count; i++)
		if (number_unsigned(type, word, word_size) ==
		    number_unsigned(type, condition->values[i], word_size))
			return true;
	return false;
}

bool print_condition(struct printer *printer, const struct condition *condition)
{
	struct arguments *arguments = &printer->arguments;
	unsigned index = condition->argument - 1;
	const struct type *type;
	struct place place;
	uint64_t word;

	if (condition->kind == CONDITION_NONE)
		return true;
	if (index >= arguments_count(arguments) || !condition->count)
		return false;
	type = arguments_type(arguments, index);
	if (arguments_place(arguments, index, &place) ||
	    number_read(place, type, print_word_size(printer), &word))
		return false;
	if (condition->kind == CONDITION_BITS)
		return word & (uint64_t)condition->values[0];
	return has_value(printer, condition, type, word);
}
