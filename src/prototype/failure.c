/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/failure.h"

#include "prototype/number.h"
#include "prototype/numbers.h"

/* The highest error number that the kernel returns (MAX_ERRNO). */
#define ERROR_MAX 4095

/* The lowest that programs don't see (include/linux/errno.h). */
#define ERROR_INTERNAL 512

static enum failure failure_of(const struct arguments *arguments)
{
	if (arguments->values->system_call)
		return FAILURE_KERNEL;
	return arguments->prototype ? arguments->prototype->failure :
				      FAILURE_UNKNOWN;
}

/* The result as a number that has a sign, whatever its type. */
static bool result_number(const struct arguments *arguments, int64_t *ret)
{
	struct type type = *arguments_result_type(arguments);
	unsigned word_size = arguments->values->arch->word_size;
	struct found_value found;
	struct place place;
	uint64_t word;

	if (!numbers_result(&type, arguments->values, &word) &&
	    (arguments_result(arguments, &found, &place) ||
	     number_read(place, &type, word_size, &word)))
		return false;
	if (type.kind == TYPE_POINTER)
		type.size = TYPE_WORD;
	type.kind = TYPE_INTEGER;
	type.is_signed = true;
	*ret = (int64_t)number_narrow(&type, word, word_size);
	return true;
}

static bool is_pointer(const struct arguments *arguments)
{
	return arguments_result_type(arguments)->kind == TYPE_POINTER;
}

static bool has_failed(const struct arguments *arguments, int64_t *result_ret)
{
	int64_t result;

	if (failure_of(arguments) == FAILURE_UNKNOWN ||
	    !result_number(arguments, &result))
		return false;
	*result_ret = result;
	switch (failure_of(arguments)) {
	case FAILURE_UNKNOWN:
		break;
	case FAILURE_ERRNO:
		return result == -1 || (!result && is_pointer(arguments));
	case FAILURE_ERRNUM:
	case FAILURE_NONZERO:
		return result != 0;
	case FAILURE_ZERO:
		return result == 0;
	case FAILURE_NEGATIVE:
		return result < 0;
	case FAILURE_KERNEL:
		return result < 0 && result >= -ERROR_MAX;
	}
	return false;
}

/* Errors that the kernel keeps for itself tell of nothing but a signal. */
static bool is_interrupted(const struct arguments *arguments, int64_t result)
{
	return failure_of(arguments) == FAILURE_KERNEL &&
	       result <= -ERROR_INTERNAL && error_name(-result);
}

enum failure_result failure_result(const struct arguments *arguments)
{
	int64_t result;

	if (!has_failed(arguments, &result))
		return RESULT_AS_IT_IS;
	if (is_interrupted(arguments, result))
		return RESULT_NONE;
	return failure_of(arguments) == FAILURE_KERNEL ||
			       (failure_of(arguments) == FAILURE_ERRNO &&
				result == -1) ?
		       RESULT_MINUS_ONE :
		       RESULT_AS_IT_IS;
}

bool failure_happened(const struct arguments *arguments)
{
	int64_t result;

	return has_failed(arguments, &result);
}

bool prototype_has_failed(const struct prototype *prototype,
			  const struct call_values *values)
{
	struct arguments arguments;
	int64_t result;

	arguments_init_result(&arguments, prototype, values);
	return has_failed(&arguments, &result) &&
	       !is_interrupted(&arguments, result);
}

int prototype_error(const struct prototype *prototype,
		    const struct call_values *values)
{
	struct arguments arguments;
	int64_t result;

	arguments_init_result(&arguments, prototype, values);
	if (!has_failed(&arguments, &result))
		return 0;
	switch (failure_of(&arguments)) {
	case FAILURE_KERNEL:
		return -result;
	case FAILURE_ERRNUM:
		return result > 0 && result <= ERROR_MAX ? result : 0;
	case FAILURE_ERRNO:
		return values->error;
	case FAILURE_UNKNOWN:
	case FAILURE_ZERO:
	case FAILURE_NONZERO:
	case FAILURE_NEGATIVE:
		break;
	}
	return 0;
}
