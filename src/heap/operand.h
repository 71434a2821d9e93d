/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_OPERAND_H
#define CALLTRAP_OPERAND_H

#include "heap/family.h"
#include "prototype/prototype.h"

/*
 * The value of an operand at a call; which: of several that are stored in a
 * row, the one with this number (from 0). -ENOENT for OPERAND_NONE, -EAGAIN
 * for what is known only after the return, -EFAULT for what can't be read. A
 * product that is too large is the largest number there is.
 */
int operand_value(const struct operand *operand,
		  const struct call_values *values, unsigned which,
		  uint64_t *ret) MUST_CHECK;

/* The same of one that takes nothing but numbers to know: these. */
uint64_t operand_number(const struct operand *operand,
			const uint64_t *arguments, uint64_t result);

/* … or 0 of OPERAND_NONE. Nearly all are as wide as a register. */
static inline uint64_t operand_of(const struct operand *operand,
				  const uint64_t *arguments, uint64_t result)
{
	if (operand->kind == OPERAND_NONE)
		return 0;
	if (operand->kind == OPERAND_ARGUMENT && !operand->width)
		return arguments[operand->index];
	if (operand->kind == OPERAND_RESULT && !operand->width)
		return result;
	return operand_number(operand, arguments, result);
}

/* Whether the call is one that the function's line means: see
   struct family_choice. */
bool family_means(const struct family_function *function,
		  const struct call_values *values);

/* Whether a function with that result (of so many bytes) has succeeded. */
bool family_succeeded(const struct family_function *function, uint64_t result,
		      unsigned word_size);

#endif
