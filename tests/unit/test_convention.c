/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Conventions on registers and a stack of our own: i386, what C has no words
 * for, and what only a hostile file would say. For x86_64 against compiled
 * functions see test_passing.c.
 */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "sysdeps/arch.h"

#define STACK 0xffffc000u

struct stack {
	struct memory memory;
	uint32_t words[64];
};

static size_t stack_read(struct memory *memory, taddr_t address, void *ret,
			 size_t size)
{
	struct stack *stack = (struct stack *)memory;
	uint64_t offset = address - STACK;

	if (offset >= sizeof(stack->words))
		return 0;
	if (size > sizeof(stack->words) - offset)
		size = sizeof(stack->words) - offset;
	memcpy(ret, (char *)stack->words + offset, size);
	return size;
}

static const struct memory_ops stack_ops = { .read = stack_read };
static struct stack stack = { .memory = { &stack_ops } };
static struct regs regs;
static struct fp_regs fp;

static void setup(void)
{
	long double st0 = 1.0L / 3, st1 = -2.5L;

	for (unsigned i = 0; i < ARRAY_SIZE(stack.words); i++)
		stack.words[i] = 0x1000 + i;
	memset(&regs, 0, sizeof(regs));
	memset(&fp, 0, sizeof(fp));
	regs.user.rsp = STACK;
	regs.user.rdi = 0x71;
	regs.user.rsi = 0x72;
	regs.user.rax = 0x1111111122222222;
	regs.user.rdx = 0x3333333344444444;
	memcpy(fp.user.st_space, &st0, 10);
	memcpy(fp.user.st_space + 4, &st1, 10);
	for (unsigned i = 0; i < ARRAY_SIZE(fp.user.xmm_space); i++)
		fp.user.xmm_space[i] = 0x2000 + i;
}

#define LIST(...) ((const struct scalar[]){ __VA_ARGS__ })
#define VALUE(bytes, ...)                                        \
	.size = bytes, .align = 4, .scalars = LIST(__VA_ARGS__), \
	.count = sizeof(LIST(__VA_ARGS__)) / sizeof(struct scalar)
#define NUMBER(bytes, kind)                      \
	{                                        \
		VALUE(bytes, { 0, bytes, kind }) \
	}

static const struct flat_value byte = NUMBER(1, SCALAR_INTEGER);
static const struct flat_value word = NUMBER(4, SCALAR_INTEGER);
static const struct flat_value quad = NUMBER(8, SCALAR_INTEGER);
static const struct flat_value single = NUMBER(4, SCALAR_FLOAT);
static const struct flat_value twice = NUMBER(8, SCALAR_FLOAT);
static const struct flat_value wide = NUMBER(12, SCALAR_X87);
static const struct flat_value float128 = NUMBER(16, SCALAR_FLOAT);
static const struct flat_value none = { .aggregate = true, .align = 1 };
static const struct flat_value one_int = { .aggregate = true,
					   VALUE(4, { 0, 4, SCALAR_INTEGER }) };
static const struct flat_value one_float = { .aggregate = true,
					     VALUE(4, { 0, 4, SCALAR_FLOAT }) };
static const struct flat_value aligned = {
	.aggregate = true,
	.size = 16,
	.align = 16,
};
static const struct flat_value complex_float = {
	.complex = true,
	VALUE(8, { 0, 4, SCALAR_FLOAT }, { 4, 4, SCALAR_FLOAT })
};
static const struct flat_value complex_double = {
	.complex = true,
	VALUE(16, { 0, 8, SCALAR_FLOAT }, { 8, 8, SCALAR_FLOAT })
};
static const struct flat_value complex_wide = { .complex = true,
						VALUE(24, { 0, 12, SCALAR_X87 },
						      { 12, 12, SCALAR_X87 }) };
static const struct flat_value object = { .aggregate = true,
					  .by_address = true,
					  VALUE(8, { 0, 8, SCALAR_FLOAT }) };

static const struct convention *i386(void)
{
	return arch_i386.convention;
}

static const struct convention *x86_64(void)
{
	return arch_x86_64.convention;
}

static struct passed next(const struct convention *how,
			  struct argument_cursor *cursor,
			  const struct flat_value *value)
{
	struct passed passed;

	ck_assert_int_eq(how->argument(cursor, &regs, &fp, &stack.memory, value,
				       false, &passed),
			 0);
	return passed;
}

static struct passed result(const struct convention *how,
			    const struct flat_value *value)
{
	struct passed passed;

	ck_assert_int_eq(how->result(&regs, &regs,
				     how->needs_fp(value, true) ? &fp : NULL,
				     &stack.memory, value, &passed),
			 0);
	return passed;
}

static void check_next(const struct convention *how,
		       struct argument_cursor *cursor,
		       const struct flat_value *value, taddr_t address)
{
	struct passed passed = next(how, cursor, value);

	ck_assert(passed.in_memory);
	ck_assert_uint_eq(passed.address, address);
}

START_TEST(i386_arguments)
{
	static const struct flat_value *const values[] = {
		&byte,    &quad,          &single,       &twice,   &wide, &none,
		&aligned, &complex_float, &complex_wide, &one_int, &quad,
	};
	struct argument_cursor cursor;
	taddr_t address = STACK + 4;

	i386()->begin(&regs, NULL, &cursor);
	for (unsigned i = 0; i < ARRAY_SIZE(values); i++) {
		ck_assert(!i386()->needs_fp(values[i], false));
		check_next(i386(), &cursor, values[i], address);
		address += (values[i]->size + 3) / 4 * 4;
	}
}
END_TEST

START_TEST(i386_vectors)
{
	struct argument_cursor cursor;

	i386()->begin(&regs, &float128, &cursor);
	check_next(i386(), &cursor, &word, STACK + 8);
	check_next(i386(), &cursor, &float128, STACK + 4 + 16);
	check_next(i386(), &cursor, &byte, STACK + 4 + 32);
	ck_assert(result(i386(), &float128).in_memory);
}
END_TEST

START_TEST(i386_hidden_place)
{
	static const struct flat_value *const large[] = {
		&one_int,        &one_float,    &none,   &aligned,
		&complex_double, &complex_wide, &object,
	};
	static const struct flat_value *const small[] = {
		NULL, &byte, &quad, &single, &twice, &wide, &complex_float,
	};
	struct argument_cursor cursor;
	struct passed passed;

	for (unsigned i = 0; i < ARRAY_SIZE(large); i++) {
		i386()->begin(&regs, large[i], &cursor);
		check_next(i386(), &cursor, &word, STACK + 8);
		passed = result(i386(), large[i]);
		ck_assert(passed.in_memory);
		ck_assert_uint_eq(passed.address, 0x22222222);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(small); i++) {
		i386()->begin(&regs, small[i], &cursor);
		check_next(i386(), &cursor, &word, STACK + 4);
	}
}
END_TEST

START_TEST(i386_results)
{
	static const uint64_t pair = 0x4444444422222222;
	float number = 1.0L / 3;
	double larger = 1.0L / 3;

	ck_assert_mem_eq(result(i386(), &word).bytes, &pair, 4);
	ck_assert_mem_eq(result(i386(), &quad).bytes, &pair, 8);
	ck_assert_mem_eq(result(i386(), &complex_float).bytes, &pair, 8);
	ck_assert(!i386()->needs_fp(&complex_float, true));
	ck_assert_mem_eq(result(i386(), &single).bytes, &number, 4);
	ck_assert_mem_eq(result(i386(), &twice).bytes, &larger, 8);
	ck_assert_mem_eq(result(i386(), &wide).bytes, fp.user.st_space, 10);
}
END_TEST

START_TEST(objects)
{
	struct argument_cursor cursor;

	i386()->begin(&regs, &object, &cursor);
	check_next(i386(), &cursor, &object, stack.words[2]);
	ck_assert(!i386()->needs_fp(&object, true));

	x86_64()->begin(&regs, &object, &cursor);
	check_next(x86_64(), &cursor, &object, 0x72);
	cursor.integers = 6;
	check_next(x86_64(), &cursor, &object,
		   stack.words[2] | (uint64_t)stack.words[3] << 32);
	ck_assert(!x86_64()->needs_fp(&object, false));
	ck_assert(!x86_64()->needs_fp(&object, true));
	ck_assert_uint_eq(result(x86_64(), &object).address, regs.user.rax);
}
END_TEST

START_TEST(unreadable)
{
	struct argument_cursor cursor = { .integers = 6, .stack = 8 };
	struct passed passed;

	ck_assert_int_eq(x86_64()->argument(&cursor, &regs, NULL, &stack.memory,
					    &object, false, &passed),
			 -EFAULT);
	ck_assert_int_eq(i386()->argument(&cursor, &regs, NULL, &stack.memory,
					  &object, false, &passed),
			 -EFAULT);
	/* Not read, though needed; the next is found all the same. */
	x86_64()->begin(&regs, NULL, &cursor);
	ck_assert_int_eq(x86_64()->argument(&cursor, &regs, NULL, &stack.memory,
					    &twice, false, &passed),
			 -ENODATA);
	ck_assert_mem_eq(next(x86_64(), &cursor, &single).bytes,
			 &fp.user.xmm_space[4], 4);
	ck_assert_int_eq(x86_64()->result(&regs, &regs, NULL, &stack.memory,
					  &twice, &passed),
			 -ENODATA);
	ck_assert_int_eq(i386()->result(&regs, &regs, NULL, &stack.memory,
					&twice, &passed),
			 -ENODATA);
}
END_TEST

static const struct flat_value hostile[] = {
	{ .aggregate = true, VALUE(16, { UINT32_MAX, 255, SCALAR_INTEGER }) },
	{ .aggregate = true, VALUE(16, { 8, 16, SCALAR_X87 }) },
	{ .aggregate = true, VALUE(2, { 0, 16, SCALAR_X87 }) },
	{ .aggregate = true, VALUE(8, { 4, 0, SCALAR_FLOAT }) },
	{ .aggregate = true, .size = UINT64_MAX, .align = UINT32_MAX },
	{ .aggregate = true, .size = 16, .align = 0 },
	{ .complex = true, .size = 32 },
	{ .size = UINT64_MAX - 3, .align = 0x80000000 },
	{ .complex = true, .aggregate = true, .by_address = true },
	{ .complex = true, VALUE(0, { 0, 0, SCALAR_X87 }) },
};

START_TEST(hostile_values)
{
	const struct convention *const all[] = {
		i386(),
		x86_64(),
		arch_i386.syscall_convention,
		arch_x86_64.syscall_convention,
	};
	const struct flat_value *value = &hostile[_i];

	for (unsigned i = 0; i < ARRAY_SIZE(all); i++) {
		struct argument_cursor cursor;
		struct passed passed;

		all[i]->begin(&regs, value, &cursor);
		for (unsigned j = 0; j < 20; j++) {
			int err = all[i]->argument(&cursor, &regs, &fp,
						   &stack.memory, value, false,
						   &passed);
			ck_assert_int_le(err, 0);
		}
		result(all[i], value);
		all[i]->needs_fp(value, false);
	}
}
END_TEST

START_TEST(many_words_of_a_call)
{
	struct argument_cursor cursor;
	struct passed passed;

	arch_i386.syscall_convention->begin(&regs, NULL, &cursor);
	for (unsigned i = 0; i < 3; i++)
		next(arch_i386.syscall_convention, &cursor, &quad);
	ck_assert_int_eq(arch_i386.syscall_convention->argument(
				 &cursor, &regs, NULL, &stack.memory, &word,
				 false, &passed),
			 -ENODATA);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("convention");
	TCase *tcase = tcase_create("prepared registers");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, i386_arguments);
	tcase_add_test(tcase, i386_vectors);
	tcase_add_test(tcase, i386_hidden_place);
	tcase_add_test(tcase, i386_results);
	tcase_add_test(tcase, objects);
	tcase_add_test(tcase, unreadable);
	tcase_add_loop_test(tcase, hostile_values, 0, ARRAY_SIZE(hostile));
	tcase_add_test(tcase, many_words_of_a_call);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
