/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/i386/convention.h"

#include <string.h>

#include "sysdeps/x86/convention.h"

/*
 * System V ABI, Intel386 supplement, 2.2.3 and 2.2.4 (psABI 1.1). Arguments are
 * on the stack, in words, whatever their alignment, unless there is something
 * in them for a whole vector register (__float128, __m128). An empty class of C++ has a
 * word too (GCC; clang leaves it out, and that can't be told from the call).
 */

enum { WORD = 4, VECTOR = 16 };

static bool is_vector(const struct scalar *scalar)
{
	return scalar->kind == SCALAR_FLOAT && scalar->size == VECTOR;
}

static bool is_x87(const struct flat_value *value)
{
	return !value->aggregate && !value->complex && value->count &&
	       value->scalars[0].kind != SCALAR_INTEGER &&
	       !is_vector(&value->scalars[0]);
}

static unsigned alignment(const struct flat_value *value)
{
	for (unsigned i = 0; !value->by_address && i < value->count; i++)
		if (is_vector(&value->scalars[i]))
			return VECTOR;
	return WORD;
}

/*
 * Every struct, the smallest too. Of the complex numbers, those that are no
 * larger than edx:eax aren't.
 */
static bool result_in_memory(const struct flat_value *value)
{
	return value->by_address || value->aggregate ||
	       (!is_x87(value) && value->size > 2 * WORD);
}

static void begin(const struct regs *regs, const struct flat_value *result,
		  struct argument_cursor *ret)
{
	bool has_place = result && result_in_memory(result);

	*ret = (struct argument_cursor){
		.stack = (uint32_t)regs->user.rsp + (has_place ? 2 : 1) * WORD,
	};
}

static int argument(struct argument_cursor *cursor, const struct regs *regs,
		    const struct fp_regs *fp, struct memory *memory,
		    const struct flat_value *value, bool variadic,
		    struct passed *ret)
{
	uint64_t size = value->by_address ? WORD : value->size;
	taddr_t base = (uint32_t)regs->user.rsp + WORD;
	taddr_t address =
		x86_stack_argument(cursor, base, size, alignment(value), WORD);
	int err;

	(void)fp;
	(void)variadic;
	address = (uint32_t)address;
	if (value->by_address) {
		err = memory_read_word(memory, address, WORD, &address);
		if (err)
			return err;
	}
	passed_in_memory(address, ret);
	return 0;
}

/* st0 holds more than a float or double does. */
static int x87_result(const struct fp_regs *fp, const struct flat_value *value,
		      struct passed *ret)
{
	struct passed found = { 0 };
	long double wide = 0;
	int err = x86_st_get(fp, 0, found.bytes);

	if (err)
		return err;
	memcpy(&wide, found.bytes, 10);
	if (value->scalars[0].kind == SCALAR_FLOAT) {
		memset(found.bytes, 0, sizeof(found.bytes));
		if (value->size == sizeof(float))
			memcpy(found.bytes, &(float){ wide }, sizeof(float));
		else
			memcpy(found.bytes, &(double){ wide }, sizeof(double));
	}
	*ret = found;
	return 0;
}

static int result(const struct regs *entry, const struct regs *regs,
		  const struct fp_regs *fp, struct memory *memory,
		  const struct flat_value *value, struct passed *ret)
{
	uint32_t low = regs->user.rax, high = regs->user.rdx;

	(void)entry;
	(void)memory;
	if (result_in_memory(value))
		passed_in_memory(low, ret);
	else if (is_x87(value))
		return x87_result(fp, value, ret);
	else
		passed_in_registers(low | (uint64_t)high << 32, 0, ret);
	return 0;
}

static bool needs_fp(const struct flat_value *value, bool as_result)
{
	return as_result && !value->by_address && is_x87(value);
}

static bool variadic_needs_fp(const struct regs *regs)
{
	(void)regs;
	return false;
}

const struct convention i386_convention = {
	.begin = begin,
	.argument = argument,
	.result = result,
	.needs_fp = needs_fp,
	.variadic_needs_fp = variadic_needs_fp,
};
