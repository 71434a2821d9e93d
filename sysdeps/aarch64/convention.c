/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/aarch64/convention.h"

#include <errno.h>
#include <string.h>

#include "sysdeps/aarch64/registers.h"

/*
 * Procedure Call Standard for the Arm 64-bit Architecture, 6.8.2 and 6.9. The
 * comments name its stages.
 */

enum { WORD = 8, INTEGERS = 8, FLOATS = 8, ELEMENTS = 4, INDIRECT = 8 };

static void found_in_memory(taddr_t address, struct passed *ret)
{
	*ret = (struct passed){ .in_memory = true, .address = address };
}

/* A long double is a quad here, in a vector register as the others are. */
static unsigned float_size(const struct scalar *scalar)
{
	if (scalar->kind == SCALAR_X87)
		return 16;
	return scalar->kind == SCALAR_FLOAT ? scalar->size : 0;
}

/*
 * Of how many elements a homogeneous aggregate of floating-point numbers is,
 * or a number that is one itself; 0: it is none. Those of a union overlap.
 */
static unsigned float_elements(const struct flat_value *value)
{
	unsigned size = value->count ? float_size(&value->scalars[0]) : 0;

	if (!size || value->size % size || value->size / size > ELEMENTS)
		return 0;
	for (unsigned i = 0; i < value->count; i++)
		if (float_size(&value->scalars[i]) != size ||
		    value->scalars[i].offset % size ||
		    value->scalars[i].offset + size > value->size)
			return 0;
	return (unsigned)(value->size / size);
}

/* B.4: a copy is made, and its address passed. */
static bool is_copied(const struct flat_value *value)
{
	return value->by_address ||
	       (value->size > 2 * WORD && !float_elements(value));
}

static int read_floats(const struct fp_regs *fp, unsigned first,
		       unsigned elements, size_t size, struct passed *ret)
{
	struct passed found = { 0 };

	if (!fp)
		return -ENODATA;
	for (unsigned i = 0; i < elements; i++)
		memcpy(found.bytes + i * size, &fp->user.vregs[first + i],
		       size);
	*ret = found;
	return 0;
}

static taddr_t round_up(taddr_t value, uint64_t to)
{
	return (value + to - 1) & -to;
}

/* C.14: the stack pointer is at a multiple of 16, so its alignment is too. */
static taddr_t stacked(struct argument_cursor *cursor, uint64_t size,
		       uint64_t align)
{
	taddr_t address;

	/* What the types say is hostile. */
	align = align >= 2 * WORD ? 2 * WORD : WORD;
	address = round_up(cursor->stack, align);
	cursor->stack = address + round_up(size, WORD);
	return address;
}

/* C.1 to C.5 */
static int float_argument(struct argument_cursor *cursor,
			  const struct fp_regs *fp,
			  const struct flat_value *value, unsigned elements,
			  struct passed *ret)
{
	const unsigned first = cursor->floats;

	if (first + elements > FLOATS) {
		cursor->floats = FLOATS;
		found_in_memory(stacked(cursor, value->size, value->align),
				ret);
		return 0;
	}
	cursor->floats += elements;
	return read_floats(fp, first, elements, value->size / elements, ret);
}

/* C.9 to C.17. GNU C has structs without members, which take no place. */
static void integer_argument(struct argument_cursor *cursor,
			     const struct regs *regs, uint64_t size,
			     uint64_t align, struct passed *ret)
{
	const unsigned words = size > WORD ? 2 : size > 0;

	if (align >= 2 * WORD && words == 2)
		cursor->integers = (cursor->integers + 1) & ~1u;
	if (cursor->integers + words > INTEGERS) {
		cursor->integers = INTEGERS;
		found_in_memory(stacked(cursor, size, align), ret);
		return;
	}
	*ret = (struct passed){ 0 };
	memcpy(ret->bytes, &regs->user.regs[cursor->integers],
	       words * sizeof(uint64_t));
	cursor->integers += words;
}

static int copied_argument(struct argument_cursor *cursor,
			   const struct regs *regs, struct memory *memory,
			   struct passed *ret)
{
	struct passed pointer;
	taddr_t address;
	int err = 0;

	integer_argument(cursor, regs, WORD, WORD, &pointer);
	if (pointer.in_memory)
		err = memory_read_word(memory, pointer.address, WORD, &address);
	else
		memcpy(&address, pointer.bytes, sizeof(address));
	if (!err)
		found_in_memory(address, ret);
	return err;
}

/* Linux passes those for "..." as it passes others. */
static int argument(struct argument_cursor *cursor, const struct regs *regs,
		    const struct fp_regs *fp, struct memory *memory,
		    const struct flat_value *value, bool variadic UNUSED,
		    struct passed *ret)
{
	unsigned elements;

	if (is_copied(value))
		return copied_argument(cursor, regs, memory, ret);
	elements = float_elements(value);
	if (elements)
		return float_argument(cursor, fp, value, elements, ret);
	integer_argument(cursor, regs, value->size, value->align, ret);
	return 0;
}

/* x8, which no argument is in, says where a large result goes. */
static void begin(const struct regs *regs,
		  const struct flat_value *result UNUSED,
		  struct argument_cursor *ret)
{
	*ret = (struct argument_cursor){ .stack = regs->user.sp };
}

static int result(const struct regs *entry, const struct regs *regs,
		  const struct fp_regs *fp, struct memory *memory UNUSED,
		  const struct flat_value *value, struct passed *ret)
{
	const unsigned elements = float_elements(value);

	if (is_copied(value)) {
		found_in_memory(entry->user.regs[INDIRECT], ret);
		return 0;
	}
	if (elements)
		return read_floats(fp, 0, elements, value->size / elements,
				   ret);
	*ret = (struct passed){ 0 };
	memcpy(ret->bytes, regs->user.regs, 2 * WORD);
	return 0;
}

static bool needs_fp(const struct flat_value *value, bool as_result UNUSED)
{
	return !is_copied(value) && float_elements(value);
}

/* Nobody says how many there are. */
static bool variadic_needs_fp(const struct regs *regs UNUSED)
{
	return true;
}

const struct convention aarch64_convention = {
	.begin = begin,
	.argument = argument,
	.result = result,
	.needs_fp = needs_fp,
	.variadic_needs_fp = variadic_needs_fp,
};
