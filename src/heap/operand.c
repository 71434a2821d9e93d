/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/operand.h"

#include <errno.h>

static uint64_t narrow(uint64_t number, unsigned width, bool is_signed)
{
	unsigned unused = 64 - 8 * width;

	if (!width || width >= 8)
		return number;
	if (is_signed)
		return (int64_t)(number << unused) >> unused;
	return number << unused >> unused;
}

static unsigned width_of(const struct operand *operand,
			 const struct call_values *values)
{
	return operand->width ? operand->width : values->arch->word_size;
}

static int argument(const struct operand *operand,
		    const struct call_values *values, unsigned index,
		    uint64_t *ret)
{
	uint64_t number;

	if (values->arch->argument(values->entry_regs, values->memory, index,
				   &number) < 0)
		return -EFAULT;
	*ret = narrow(number, width_of(operand, values), operand->is_signed);
	return 0;
}

static int product(const struct operand *operand,
		   const struct call_values *values, uint64_t *ret)
{
	uint64_t a, b, result;
	int err = argument(operand, values, operand->index, &a);

	if (!err)
		err = argument(operand, values, operand->second, &b);
	if (err)
		return err;
	if (__builtin_mul_overflow(a, b, &result) ||
	    (values->arch->word_size == 4 && result > UINT32_MAX))
		result = UINT64_MAX;
	*ret = result;
	return 0;
}

static int stored(const struct operand *operand,
		  const struct call_values *values, unsigned which,
		  uint64_t *ret)
{
	unsigned width = width_of(operand, values);
	struct operand pointer = { .kind = OPERAND_ARGUMENT };
	uint64_t address, number;
	int err;

	if (!values->result_regs)
		return -EAGAIN;
	err = argument(&pointer, values, operand->index, &address);
	if (!err)
		err = memory_read_word(values->memory, address + which * width,
				       width, &number);
	if (err)
		return -EFAULT;
	*ret = narrow(number, width, operand->is_signed);
	return 0;
}

int operand_value(const struct operand *operand,
		  const struct call_values *values, unsigned which,
		  uint64_t *ret)
{
	switch (operand->kind) {
	case OPERAND_NONE:
		return -ENOENT;
	case OPERAND_ARGUMENT:
		return argument(operand, values, operand->index, ret);
	case OPERAND_PRODUCT:
		return product(operand, values, ret);
	case OPERAND_RESULT:
		if (!values->result_regs)
			return -EAGAIN;
		*ret = narrow(values->arch->result(values->result_regs),
			      width_of(operand, values), operand->is_signed);
		return 0;
	case OPERAND_STORED:
		return stored(operand, values, which, ret);
	case OPERAND_CONSTANT:
		*ret = operand->number;
		return 0;
	}
	return -ENOENT;
}

static uint64_t number_among(const struct operand *operand,
			     const uint64_t *arguments, unsigned index)
{
	return narrow(arguments[index],
		      operand->width ? operand->width : sizeof(uint64_t),
		      operand->is_signed);
}

uint64_t operand_number(const struct operand *operand,
			const uint64_t *arguments, uint64_t result)
{
	uint64_t product;

	switch (operand->kind) {
	case OPERAND_ARGUMENT:
		return number_among(operand, arguments, operand->index);
	case OPERAND_PRODUCT:
		return __builtin_mul_overflow(number_among(operand, arguments,
							   operand->index),
					      number_among(operand, arguments,
							   operand->second),
					      &product) ?
			       UINT64_MAX :
			       product;
	case OPERAND_RESULT:
		return number_among(operand, &result, 0);
	case OPERAND_CONSTANT:
		return operand->number;
	case OPERAND_NONE:
	case OPERAND_STORED:
		break;
	}
	return 0;
}

bool family_means(const struct family_function *function,
		  const struct call_values *values)
{
	const struct family_choice *choice = &function->choice;
	const struct operand operand = { .width = choice->width };
	uint64_t number;

	if (!choice->count)
		return true;
	if (argument(&operand, values, choice->index, &number))
		return false;
	for (unsigned i = 0; i < choice->count; i++)
		if (choice->numbers[i] == number)
			return true;
	return false;
}

bool family_succeeded(const struct family_function *function, uint64_t result,
		      unsigned word_size)
{
	const struct family_success *success = &function->success;
	unsigned width = success->width ? success->width : word_size;
	int64_t number = narrow(result, width, true);

	switch (success->compare) {
	case COMPARE_ALWAYS:
		return true;
	case COMPARE_EQUAL:
		return number == success->number;
	case COMPARE_NOT_EQUAL:
		return number != success->number;
	case COMPARE_AT_LEAST:
		return number >= success->number;
	case COMPARE_GREATER:
		return number > success->number;
	}
	return false;
}
