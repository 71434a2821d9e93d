/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86_64/convention.h"

#include <errno.h>
#include <string.h>

#include "sysdeps/x86/convention.h"
#include "sysdeps/x86/registers.h"

/*
 * System V ABI, AMD64 supplement, 3.2.3. Values of up to two eightbytes travel
 * in registers that the class of each eightbyte tells; others in memory.
 */

enum { WORD = 8, EIGHTBYTES = 2, INTEGERS = 6, FLOATS = 8 };

enum eightbyte {
	NO_CLASS,
	INTEGER,
	SSE,
	SSEUP, /* the upper half of the same register */
	X87,
	X87UP,
	COMPLEX_X87,
	MEMORY,
};

/* Where the arguments on the stack begin: behind the return address. */
static taddr_t stack_arguments(const struct regs *regs)
{
	return regs->user.rsp + WORD;
}

struct classes {
	enum eightbyte of[EIGHTBYTES];
};

static enum eightbyte merge(enum eightbyte a, enum eightbyte b)
{
	if (a == b || b == NO_CLASS)
		return a;
	if (a == NO_CLASS)
		return b;
	if (a == MEMORY || b == MEMORY)
		return MEMORY;
	if (a == INTEGER || b == INTEGER)
		return INTEGER;
	if (a >= X87 || b >= X87)
		return MEMORY;
	return SSE;
}

static enum eightbyte class_of(const struct scalar *scalar, bool first)
{
	switch (scalar->kind) {
	case SCALAR_FLOAT:
		return first ? SSE : SSEUP;
	case SCALAR_X87:
		return first ? X87 : X87UP;
	case SCALAR_INTEGER:
		break;
	}
	return INTEGER;
}

/* Packed: not at a multiple of its size, which is what it is aligned to. */
static bool is_unaligned(const struct scalar *scalar)
{
	unsigned size = scalar->kind == SCALAR_X87 ? 16 : scalar->size;

	return size && !(size & (size - 1)) && scalar->offset % size;
}

static bool add_scalar(struct classes *classes, const struct scalar *scalar)
{
	unsigned size = scalar->kind == SCALAR_X87 ? 16 : scalar->size;
	uint64_t first = scalar->offset / WORD;
	uint64_t last;

	if (!size)
		return true;
	last = ((uint64_t)scalar->offset + size - 1) / WORD;
	if (last >= EIGHTBYTES || is_unaligned(scalar))
		return false;
	for (uint64_t i = first; i <= last; i++)
		classes->of[i] =
			merge(classes->of[i], class_of(scalar, i == first));
	return true;
}

static bool is_complex_x87(const struct flat_value *value)
{
	return value->complex && value->count &&
	       value->scalars[0].kind == SCALAR_X87;
}

/* One number, as nearly all values are. */
static bool is_integer(const struct flat_value *value)
{
	return value->count == 1 && value->size <= WORD &&
	       value->scalars[0].kind == SCALAR_INTEGER &&
	       !value->scalars[0].offset && value->scalars[0].size;
}

static struct classes classify(const struct flat_value *value)
{
	static const struct classes memory = { { MEMORY, MEMORY } };
	struct classes classes = { { NO_CLASS, NO_CLASS } };

	if (is_integer(value))
		return (struct classes){ { INTEGER, NO_CLASS } };
	if (is_complex_x87(value))
		return (struct classes){ { COMPLEX_X87, NO_CLASS } };
	if (value->size > EIGHTBYTES * WORD)
		return memory;
	for (unsigned i = 0; i < value->count; i++)
		if (!add_scalar(&classes, &value->scalars[i]))
			return memory;
	if (classes.of[0] == MEMORY || classes.of[1] == MEMORY ||
	    (classes.of[1] == X87UP && classes.of[0] != X87))
		return memory;
	if (classes.of[1] == SSEUP && classes.of[0] != SSE)
		classes.of[1] = SSE;
	return classes;
}

static unsigned count(const struct classes *classes, enum eightbyte class)
{
	return (classes->of[0] == class) + (classes->of[1] == class);
}

/* x87 classes are for results: such arguments lie in memory. */
static bool argument_in_memory(const struct classes *classes,
			       const struct argument_cursor *cursor)
{
	switch (classes->of[0]) {
	case X87:
	case COMPLEX_X87:
	case MEMORY:
		return true;
	case NO_CLASS:
	case INTEGER:
	case SSE:
	case SSEUP:
	case X87UP:
		break;
	}
	return cursor->integers + count(classes, INTEGER) > INTEGERS ||
	       cursor->floats + count(classes, SSE) > FLOATS;
}

/*
 * No part of a value is in registers unless all of it is. (Clang 14 splits an
 * __int128 that finds only one register left, and aligns it to 8 bytes on the
 * stack; what compiled the program can't be told from the call.)
 */
static int argument_in_registers(struct argument_cursor *cursor,
				 const struct regs *regs,
				 const struct fp_regs *fp,
				 const struct classes *classes,
				 struct passed *ret)
{
	static const int8_t order[INTEGERS] = { X86_RDI, X86_RSI, X86_RDX,
						X86_RCX, 8,       9 };
	struct passed found = { 0 };
	int err = 0;

	for (unsigned i = 0; i < EIGHTBYTES; i++) {
		uint8_t *to = found.bytes + WORD * i;

		if (classes->of[i] == INTEGER) {
			uint64_t word =
				x86_register_get(regs,
						 order[cursor->integers++],
						 WORD);
			memcpy(to, &word, WORD);
		} else if (classes->of[i] == SSE) {
			err = x86_xmm_get(fp, cursor->floats++, 0, to) ?: err;
		} else if (classes->of[i] == SSEUP) {
			err = x86_xmm_get(fp, cursor->floats - 1, 1, to) ?: err;
		}
	}
	if (!err)
		*ret = found;
	return err;
}

/* C++: the value lies elsewhere, a pointer to it is the argument. */
static int argument_by_address(struct argument_cursor *cursor,
			       const struct regs *regs, struct memory *memory,
			       struct passed *ret)
{
	static const struct classes pointer = { { INTEGER, NO_CLASS } };
	taddr_t address;
	int err;

	if (!argument_in_memory(&pointer, cursor)) {
		err = argument_in_registers(cursor, regs, NULL, &pointer, ret);
		memcpy(&address, ret->bytes, sizeof(address));
	} else {
		address = x86_stack_argument(cursor, stack_arguments(regs),
					     WORD, WORD, WORD);
		err = memory_read_word(memory, address, WORD, &address);
	}
	if (!err)
		passed_in_memory(address, ret);
	return err;
}

/* Those for "..." are passed as others are; al only counts them. */
static int argument(struct argument_cursor *cursor, const struct regs *regs,
		    const struct fp_regs *fp, struct memory *memory,
		    const struct flat_value *value, bool variadic,
		    struct passed *ret)
{
	struct classes classes;

	(void)variadic;
	if (value->by_address)
		return argument_by_address(cursor, regs, memory, ret);
	classes = classify(value);
	if (!argument_in_memory(&classes, cursor))
		return argument_in_registers(cursor, regs, fp, &classes, ret);
	passed_in_memory(x86_stack_argument(cursor, stack_arguments(regs),
					    value->size, value->align, WORD),
			 ret);
	return 0;
}

static bool result_in_memory(const struct flat_value *value)
{
	return value->by_address || classify(value).of[0] == MEMORY;
}

/* The place of a result in memory is handed over as if it came first. */
static void begin(const struct regs *regs, const struct flat_value *result,
		  struct argument_cursor *ret)
{
	*ret = (struct argument_cursor){
		.integers = result && result_in_memory(result),
		.stack = stack_arguments(regs),
	};
}

static int result_in_registers(const struct regs *regs,
			       const struct fp_regs *fp,
			       const struct classes *classes,
			       struct passed *ret)
{
	const uint64_t integers[] = { regs->user.rax, regs->user.rdx };
	struct passed found = { 0 };
	unsigned next_integer = 0, next_float = 0;
	int err = 0;

	for (unsigned i = 0; i < EIGHTBYTES; i++) {
		uint8_t *to = found.bytes + WORD * i;

		if (classes->of[i] == INTEGER)
			memcpy(to, &integers[next_integer++], WORD);
		else if (classes->of[i] == SSE)
			err = x86_xmm_get(fp, next_float++, 0, to) ?: err;
		else if (classes->of[i] == SSEUP)
			err = x86_xmm_get(fp, next_float - 1, 1, to) ?: err;
		else if (classes->of[i] == X87)
			err = x86_st_get(fp, 0, to) ?: err;
	}
	if (classes->of[0] == COMPLEX_X87)
		err = x86_st_get(fp, 0, found.bytes) ?:
			      x86_st_get(fp, 1, found.bytes + 16);
	if (!err)
		*ret = found;
	return err;
}

static int result(const struct regs *entry, const struct regs *regs,
		  const struct fp_regs *fp, struct memory *memory,
		  const struct flat_value *value, struct passed *ret)
{
	struct classes classes;

	(void)entry;
	(void)memory;
	if (result_in_memory(value)) {
		passed_in_memory(regs->user.rax, ret);
		return 0;
	}
	classes = classify(value);
	return result_in_registers(regs, fp, &classes, ret);
}

static bool needs_fp(const struct flat_value *value, bool as_result)
{
	struct classes classes = classify(value);

	if (value->by_address)
		return false;
	if (count(&classes, SSE))
		return true;
	return as_result &&
	       (classes.of[0] == X87 || classes.of[0] == COMPLEX_X87);
}

/* 3.5.7: al is how many vector registers there are, or more. */
static bool variadic_needs_fp(const struct regs *regs)
{
	return regs->user.rax & 0xff;
}

const struct convention x86_64_convention = {
	.begin = begin,
	.argument = argument,
	.result = result,
	.needs_fp = needs_fp,
	.variadic_needs_fp = variadic_needs_fp,
};
