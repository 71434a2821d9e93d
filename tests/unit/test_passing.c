/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The compiler as the reference: a child calls functions with every kind of
 * argument and result, stops at their first instruction and after their
 * return, and what the convention finds there must be what was handed over.
 */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sysdeps/linux/ptrace.h"

#define ARGUMENTS_MAX 16
#define VALUE_MAX     128

/* ---- kinds of values ---- */

typedef float _Complex complex_float;
typedef double _Complex complex_double;
typedef long double _Complex complex_ldouble;
typedef long double ldouble;
typedef __int128 int128;
typedef __float128 float128;
typedef float vector __attribute__((vector_size(16)));
/* clang-format off */
typedef struct { char a; short b; int c; } mixed_ints;
typedef struct { char a, b, c; } three_chars;
typedef struct { float a, b; } two_floats;
typedef struct { float a, b, c; } three_floats;
typedef struct { double a; long b; } double_long;
typedef struct { long a; double b; } long_and_double;
typedef struct { float a; int b; double c; } float_int_double;
typedef struct { ldouble a; } wide;
typedef struct { ldouble a; int b; } wide_int;
typedef struct { complex_float a, b; } complex_pair;
typedef struct { complex_ldouble a; } complex_wide;
typedef struct __attribute__((packed)) { char a; int b; } packed;
typedef struct __attribute__((packed)) { short a, b; float c; } packed_even;
typedef struct { long a, b, c; } three_longs;
typedef struct { long a[12]; } large;
typedef struct { int128 a; } boxed128;
typedef struct { float128 a; } boxed_float128;
typedef union { vector a; two_floats b; } vector_or_floats;
typedef union { vector a; long b; } vector_or_long;
typedef struct { int a; } __attribute__((aligned(16))) aligned16;
typedef struct { int a; } __attribute__((aligned(64))) aligned64;
typedef struct { } empty;
typedef union { int a; float b; } int_or_float;
typedef union { double a; two_floats b; } doubles;
typedef union { ldouble a; long b; } wide_or_long;
typedef union { ldouble a; double b; } wide_or_double;

#define LIST(...) ((const struct scalar[]){ __VA_ARGS__ })
#define SHAPE(T, ...)                                                   \
	.size = sizeof(T), .align = _Alignof(T),                        \
	.count = sizeof(LIST(__VA_ARGS__)) / sizeof(struct scalar),     \
	.scalars = LIST(__VA_ARGS__)
#define AT(T, member, kind)                                         \
	{                                                           \
		offsetof(T, member), sizeof(((T *)NULL)->member), kind \
	}
#define I(T, member) AT(T, member, SCALAR_INTEGER)
#define F(T, member) AT(T, member, SCALAR_FLOAT)
#define X(T, member) AT(T, member, SCALAR_X87)
#define BOTH(T, kind) \
	{ 0, sizeof(T) / 2, kind }, { sizeof(T) / 2, sizeof(T) / 2, kind }

#define NUMBER(T, kind) \
	static const struct flat_value flat_##T = { \
		SHAPE(T, { 0, sizeof(T), kind }) \
	}
#define COMPLEX(T, kind) \
	static const struct flat_value flat_##T = { \
		.complex = true, SHAPE(T, BOTH(T, kind)) \
	}
#define AGGREGATE(T, ...) \
	static const struct flat_value flat_##T = { \
		.aggregate = true, SHAPE(T, __VA_ARGS__) \
	}
/* clang-format on */

NUMBER(_Bool, SCALAR_INTEGER);
NUMBER(char, SCALAR_INTEGER);
NUMBER(short, SCALAR_INTEGER);
NUMBER(int, SCALAR_INTEGER);
NUMBER(long, SCALAR_INTEGER);
NUMBER(float, SCALAR_FLOAT);
NUMBER(double, SCALAR_FLOAT);
NUMBER(ldouble, SCALAR_X87);
NUMBER(float128, SCALAR_FLOAT);
NUMBER(vector, SCALAR_FLOAT);
COMPLEX(complex_float, SCALAR_FLOAT);
COMPLEX(complex_double, SCALAR_FLOAT);
COMPLEX(complex_ldouble, SCALAR_X87);
static const struct flat_value flat_int128 = {
	SHAPE(int128, BOTH(int128, SCALAR_INTEGER))
};
AGGREGATE(mixed_ints, I(mixed_ints, a), I(mixed_ints, b), I(mixed_ints, c));
AGGREGATE(three_chars, I(three_chars, a), I(three_chars, b), I(three_chars, c));
AGGREGATE(two_floats, F(two_floats, a), F(two_floats, b));
AGGREGATE(three_floats, F(three_floats, a), F(three_floats, b),
	  F(three_floats, c));
AGGREGATE(double_long, F(double_long, a), I(double_long, b));
AGGREGATE(long_and_double, I(long_and_double, a), F(long_and_double, b));
AGGREGATE(float_int_double, F(float_int_double, a), I(float_int_double, b),
	  F(float_int_double, c));
AGGREGATE(wide, X(wide, a));
AGGREGATE(wide_int, X(wide_int, a), I(wide_int, b));
AGGREGATE(complex_pair, BOTH(complex_float, SCALAR_FLOAT),
	  { 8, 4, SCALAR_FLOAT }, { 12, 4, SCALAR_FLOAT });
AGGREGATE(complex_wide, BOTH(complex_ldouble, SCALAR_X87));
AGGREGATE(packed, I(packed, a), I(packed, b));
AGGREGATE(packed_even, I(packed_even, a), I(packed_even, b), F(packed_even, c));
AGGREGATE(three_longs, I(three_longs, a), I(three_longs, b), I(three_longs, c));
AGGREGATE(boxed128, BOTH(int128, SCALAR_INTEGER));
AGGREGATE(vector_or_floats, F(vector_or_floats, a), F(vector_or_floats, b.a),
	  F(vector_or_floats, b.b));
AGGREGATE(vector_or_long, F(vector_or_long, a), I(vector_or_long, b));
AGGREGATE(aligned16, I(aligned16, a));
AGGREGATE(aligned64, I(aligned64, a));
AGGREGATE(int_or_float, I(int_or_float, a), F(int_or_float, b));
AGGREGATE(doubles, F(doubles, a), F(doubles, b.a), F(doubles, b.b));
AGGREGATE(wide_or_long, X(wide_or_long, a), I(wide_or_long, b));
AGGREGATE(wide_or_double, X(wide_or_double, a), F(wide_or_double, b));
#ifndef __clang__
AGGREGATE(boxed_float128, F(boxed_float128, a));
#endif
static const struct flat_value flat_large = {
	.size = sizeof(large),
	.align = _Alignof(large),
	.aggregate = true,
};
static const struct flat_value flat_empty = { .align = 1, .aggregate = true };

/* ---- their contents ---- */

typedef uint8_t buffer[VALUE_MAX] __attribute__((aligned(64)));
static buffer arguments[ARGUMENTS_MAX], wanted_result, got_result;

/* No two numbers are alike; each kind's are valid ones. */
static void fill_scalar(const struct scalar *scalar, uint8_t *bytes)
{
	static unsigned counter;
	long double wide_number = ++counter + 0.5L;
	double number = -(double)counter - 0.25;
	uint64_t word = counter * 0x9e3779b97f4a7c15u;

	if (scalar->kind == SCALAR_X87)
		memcpy(bytes, &wide_number, 10);
	else if (scalar->kind == SCALAR_INTEGER)
		memcpy(bytes, &word, scalar->size);
	else if (scalar->size == sizeof(float128))
		memcpy(bytes, &(float128){ wide_number }, sizeof(float128));
	else if (scalar->size == sizeof(double))
		memcpy(bytes, &number, sizeof(number));
	else
		memcpy(bytes, &(float){ number }, sizeof(float));
}

static void fill(const struct flat_value *value, uint8_t *bytes)
{
	if (value == &flat__Bool) {
		bytes[0] = 1;
		return;
	}
	for (unsigned i = 0; i < value->count; i++)
		fill_scalar(&value->scalars[i],
			    bytes + value->scalars[i].offset);
	for (unsigned i = 0; !value->count && i < value->size; i++)
		bytes[i] = i * 7 + 1;
}

static void compare(const struct flat_value *value, const uint8_t *found,
		    const uint8_t *wanted)
{
	for (unsigned i = 0; i < value->count; i++) {
		const struct scalar *scalar = &value->scalars[i];

		ck_assert_mem_eq(found + scalar->offset,
				 wanted + scalar->offset,
				 scalar->kind == SCALAR_X87 ? 10 :
							      scalar->size);
	}
	if (!value->count)
		ck_assert_mem_eq(found, wanted, value->size);
}

/* ---- functions ---- */

struct signature {
	const char *name;
	void (*call)(void); /* hands over arguments[], fills got_result */
	void *function;
	const struct flat_value *result;
	unsigned count, named; /* parameters, and those before "..." */
	const struct flat_value *const *parameters;
};

/* EACH(m, A, B, C): m(A, 1), m(B, 11), m(C, 111) */
#define EACH_1(m, i, a)       m(a, i)
#define EACH_2(m, i, a, ...)  m(a, i), EACH_1(m, i##1, __VA_ARGS__)
#define EACH_3(m, i, a, ...)  m(a, i), EACH_2(m, i##1, __VA_ARGS__)
#define EACH_4(m, i, a, ...)  m(a, i), EACH_3(m, i##1, __VA_ARGS__)
#define EACH_5(m, i, a, ...)  m(a, i), EACH_4(m, i##1, __VA_ARGS__)
#define EACH_6(m, i, a, ...)  m(a, i), EACH_5(m, i##1, __VA_ARGS__)
#define EACH_7(m, i, a, ...)  m(a, i), EACH_6(m, i##1, __VA_ARGS__)
#define EACH_8(m, i, a, ...)  m(a, i), EACH_7(m, i##1, __VA_ARGS__)
#define EACH_9(m, i, a, ...)  m(a, i), EACH_8(m, i##1, __VA_ARGS__)
#define EACH_10(m, i, a, ...) m(a, i), EACH_9(m, i##1, __VA_ARGS__)
#define EACH_11(m, i, a, ...) m(a, i), EACH_10(m, i##1, __VA_ARGS__)
#define EACH_12(m, i, a, ...) m(a, i), EACH_11(m, i##1, __VA_ARGS__)
#define INDEX(i)              (sizeof(#i) - 2)
#define PARAMETER(T, i)       T p##i UNUSED
#define VALUE(T, i)           (*(T *)arguments[INDEX(i)])
#define FLAT(T, i)            &flat_##T

#define TABLE(name, R, n, fixed, ...)                                 \
	static const struct flat_value *const parameters_##name[] = { \
		EACH_##n(FLAT, 1, __VA_ARGS__)                        \
	};                                                            \
	static const struct signature signature_##name = {            \
		#name, call_##name, function_##name,   &flat_##R,     \
		n,     fixed,       parameters_##name,                \
	}
#define CALL(name, R, n, type, ...)                                           \
	static void call_##name(void)                                         \
	{                                                                     \
		R(*volatile function) type = function_##name;                 \
		*(R *)got_result = function(EACH_##n(VALUE, 1, __VA_ARGS__)); \
	}
#define SIGNATURE(name, R, n, ...)                                           \
	static R function_##name(EACH_##n(PARAMETER, 1, __VA_ARGS__))        \
	{                                                                    \
		return *(R *)wanted_result;                                  \
	}                                                                    \
	CALL(name, R, n, (EACH_##n(PARAMETER, 1, __VA_ARGS__)), __VA_ARGS__) \
	TABLE(name, R, n, n, __VA_ARGS__)
#define VARIADIC(name, R, n, A, ...)                     \
	static R function_##name(A first UNUSED, ...)    \
	{                                                \
		return *(R *)wanted_result;              \
	}                                                \
	CALL(name, R, n, (A first, ...), A, __VA_ARGS__) \
	TABLE(name, R, n, 1, A, __VA_ARGS__)

SIGNATURE(numbers, long, 5, char, short, int, long, _Bool);
SIGNATURE(many, char, 10, int, long, char, short, long, int, char, _Bool, short,
	  long);
SIGNATURE(floats, float, 4, float, int, double, float);
SIGNATURE(many_floats, double, 11, float, double, double, float, float, double,
	  double, float, double, float, float);
SIGNATURE(wides, ldouble, 5, int, ldouble, char, ldouble, double);
SIGNATURE(pair128, int128, 4, int128, char, int128, int);
#ifndef __clang__ /* 14 splits the one, see x86_64_convention … */
SIGNATURE(late128, int128, 8, int, int, int, int, int, int128, long, int128);
/* … and has the other in memory. */
SIGNATURE(boxed_floats, boxed_float128, 3, int, boxed_float128, vector);
#endif
SIGNATURE(boxed, boxed128, 9, int, int, int, int, int, boxed128, long, char,
	  boxed128);
SIGNATURE(floats128, float128, 5, float, float128, double, float128, int);
SIGNATURE(late_vectors, vector, 11, double, vector, float128, int, float,
	  vector, float, float, int, vector, char);
SIGNATURE(mixed_vectors, vector_or_floats, 3, vector_or_floats, vector_or_long,
	  float);
SIGNATURE(mixed_vector, vector_or_long, 3, vector_or_long, vector_or_floats,
	  float);
SIGNATURE(complexes, complex_float, 3, complex_float, complex_double,
	  complex_ldouble);
SIGNATURE(complexes_late, complex_double, 12, double, double, double, double,
	  double, double, double, complex_double, float, complex_float,
	  complex_double, complex_float);
SIGNATURE(complexes_wide, complex_ldouble, 2, int, complex_ldouble);
SIGNATURE(small, mixed_ints, 4, mixed_ints, three_chars, packed, int);
SIGNATURE(chars, three_chars, 2, three_chars, int);
SIGNATURE(pairs, two_floats, 4, two_floats, three_floats, double_long,
	  long_and_double);
SIGNATURE(triple, three_floats, 1, float_int_double);
SIGNATURE(swapped, double_long, 1, two_floats);
SIGNATURE(swapped_back, long_and_double, 1, double_long);
SIGNATURE(three, float_int_double, 2, int, complex_pair);
SIGNATURE(fours, complex_pair, 2, three_floats, float);
SIGNATURE(all_or_nothing, int, 8, long, long, long, long, long, double_long,
	  long_and_double, mixed_ints);
SIGNATURE(nothing_left, int, 12, double, double, double, double, double, double,
	  double, three_floats, float, double_long, int, two_floats);
SIGNATURE(boxed_wide, wide, 3, int, wide, double);
SIGNATURE(memory, three_longs, 4, int, three_longs, large, long);
SIGNATURE(big, large, 2, large, int);
SIGNATURE(unaligned, packed, 2, packed, packed_even);
SIGNATURE(aligned_though_packed, packed_even, 1, packed_even);
SIGNATURE(wide_struct, wide_int, 3, char, wide_int, int);
SIGNATURE(complex_struct, complex_wide, 3, char, complex_wide, int);
SIGNATURE(over_aligned, aligned16, 3, aligned16, aligned64, aligned16);
SIGNATURE(over_aligned_late, aligned64, 12, long, long, long, long, long, long,
	  long, aligned16, char, aligned64, char, aligned16);
SIGNATURE(unions, int_or_float, 2, int_or_float, doubles);
SIGNATURE(unions_again, doubles, 2, doubles, int);
SIGNATURE(wide_unions, wide_or_long, 4, int, wide_or_long, wide_or_double, int);
SIGNATURE(wide_union, wide_or_double, 1, int);
SIGNATURE(nothing, empty, 4, int, empty, double, int);
VARIADIC(more, int, 9, int, double, long, ldouble, double, int, int, long,
	 long);
VARIADIC(more_structs, three_floats, 8, int, double_long, three_longs,
	 complex_double, complex_float, long, long, long_and_double);

static const struct signature *const signatures[] = {
	&signature_numbers,
	&signature_many,
	&signature_floats,
	&signature_many_floats,
	&signature_wides,
	&signature_pair128,
#ifndef __clang__
	&signature_late128,
	&signature_boxed_floats,
#endif
	&signature_floats128,
	&signature_late_vectors,
	&signature_mixed_vectors,
	&signature_mixed_vector,
	&signature_boxed,
	&signature_complexes,
	&signature_complexes_late,
	&signature_complexes_wide,
	&signature_small,
	&signature_chars,
	&signature_pairs,
	&signature_triple,
	&signature_swapped,
	&signature_swapped_back,
	&signature_three,
	&signature_fours,
	&signature_all_or_nothing,
	&signature_nothing_left,
	&signature_boxed_wide,
	&signature_memory,
	&signature_big,
	&signature_unaligned,
	&signature_aligned_though_packed,
	&signature_wide_struct,
	&signature_complex_struct,
	&signature_over_aligned,
	&signature_over_aligned_late,
	&signature_unions,
	&signature_unions_again,
	&signature_wide_unions,
	&signature_wide_union,
	&signature_nothing,
	&signature_more,
	&signature_more_structs,
};

/* ---- the child ---- */

static pid_t child;

static size_t child_read(struct memory *memory, taddr_t address, void *ret,
			 size_t size)
{
	(void)memory;
	for (size_t i = 0; i < size; i++) {
		errno = 0;
		((uint8_t *)ret)[i] =
			ptrace(PTRACE_PEEKDATA, child, address + i, NULL);
		if (errno)
			return i;
	}
	return size;
}

static const struct memory_ops child_ops = { .read = child_read };
static struct memory child_memory = { &child_ops };

static void start_child(void (*run)(void))
{
	child = fork();
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		run();
		_exit(0);
	}
	ck_assert_int_gt(child, 0);
}

static void wait_for(int signal)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(WSTOPSIG(status), signal);
}

static void end_child(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* Runs the child up to an address. */
static void run_to(taddr_t address, struct regs *regs, struct fp_regs *fp)
{
	long word = ptrace(PTRACE_PEEKTEXT, child, address, NULL);

	ck_assert_int_eq(ptrace(PTRACE_POKETEXT, child, address,
				(word & ~0xffl) | 0xcc),
			 0);
	ck_assert_int_eq(ptrace_continue(child, 0), 0);
	wait_for(SIGTRAP);
	ck_assert_int_eq(ptrace(PTRACE_POKETEXT, child, address, word), 0);
	ck_assert_int_eq(ptrace_get_regs(child, regs), 0);
	regs->user.rip--;
	ck_assert_uint_eq(regs->user.rip, address);
	ck_assert_int_eq(ptrace_set_ip(child, address), 0);
	ck_assert_int_eq(ptrace_get_fp_regs(child, fp), 0);
}

/* ---- what is found ---- */

static const struct convention *convention(void)
{
	return arch_x86_64.convention;
}

static void check_value(const struct flat_value *value,
			const struct passed *passed, const uint8_t *wanted)
{
	buffer bytes;

	if (passed->in_memory)
		ck_assert_int_eq(memory_read(&child_memory, passed->address,
					     bytes, value->size),
				 0);
	else
		memcpy(bytes, passed->bytes, sizeof(passed->bytes));
	compare(value, bytes, wanted);
}

static void check_arguments(const struct signature *signature,
			    const struct regs *regs, const struct fp_regs *fp)
{
	struct argument_cursor cursor;
	struct passed passed;

	convention()->begin(regs, signature->result, &cursor);
	for (unsigned i = 0; i < signature->count; i++) {
		const struct flat_value *value = signature->parameters[i];
		bool needs_fp = convention()->needs_fp(value, false);

		ck_assert_int_eq(convention()->argument(&cursor, regs,
							needs_fp ? fp : NULL,
							&child_memory, value,
							i >= signature->named,
							&passed),
				 0);
		check_value(value, &passed, arguments[i]);
	}
}

static void check_result(const struct signature *signature,
			 const struct regs *entry, const struct regs *regs,
			 const struct fp_regs *fp)
{
	bool needs_fp = convention()->needs_fp(signature->result, true);
	struct passed passed;

	ck_assert_int_eq(convention()->result(entry, regs, needs_fp ? fp : NULL,
					      &child_memory, signature->result,
					      &passed),
			 0);
	check_value(signature->result, &passed, wanted_result);
}

START_TEST(functions)
{
	const struct signature *signature = signatures[_i];
	struct regs entry, regs;
	struct fp_regs fp;
	uint64_t back;

	for (unsigned i = 0; i < signature->count; i++)
		fill(signature->parameters[i], arguments[i]);
	fill(signature->result, wanted_result);
	start_child(signature->call);
	wait_for(SIGSTOP);
	run_to((taddr_t)signature->function, &entry, &fp);
	check_arguments(signature, &entry, &fp);
	ck_assert_int_eq(memory_read_word(&child_memory, entry.user.rsp, 8,
					  &back),
			 0);
	run_to(back, &regs, &fp);
	check_result(signature, &entry, &regs, &fp);
	end_child();
}
END_TEST

/* ---- system calls ---- */

static void make_system_calls(void)
{
	long result;

	syscall(SYS_pread64, 101, 102L, 103L, 0x1234567890L);
	/* i386's pread64: the offset is in esi and edi. */
	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(180), "b"(201), "c"(202), "d"(203),
			   "S"(0x34567890), "D"(0x12)
			 : "memory", "r8", "r9", "r10", "r11");
}

struct system_call {
	const struct arch_ops *arch;
	uint64_t number;
	uint64_t arguments[4];
};

static uint64_t system_call_value(const struct passed *passed)
{
	uint64_t value;

	ck_assert(!passed->in_memory);
	memcpy(&value, passed->bytes, sizeof(value));
	return value;
}

static void check_system_call(const struct system_call *wanted,
			      const struct regs *regs)
{
	const struct flat_value *const kinds[] = { &flat_int, &flat_int,
						   &flat_int, &flat_long };
	const struct convention *how = wanted->arch->syscall_convention;
	struct argument_cursor cursor;
	struct passed passed;

	ck_assert_uint_eq(wanted->arch->syscall_number(regs), wanted->number);
	how->begin(regs, NULL, &cursor);
	for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
		ck_assert_int_eq(how->argument(&cursor, regs, NULL,
					       &child_memory, kinds[i], false,
					       &passed),
				 0);
		ck_assert_uint_eq(system_call_value(&passed),
				  wanted->arguments[i]);
	}
	ck_assert_int_eq(how->argument(&cursor, regs, NULL, &child_memory,
				       &flat_long, false, &passed),
			 wanted->arch == &arch_i386 ? -ENODATA : 0);
}

static void check_system_result(const struct system_call *wanted,
				const struct regs *entry)
{
	struct passed passed;
	struct regs regs;

	ck_assert_int_eq(ptrace_get_regs(child, &regs), 0);
	ck_assert_int_eq(wanted->arch->syscall_convention->result(
				 entry, &regs, NULL, &child_memory, &flat_long,
				 &passed),
			 0);
	ck_assert_int_eq((int64_t)system_call_value(&passed), -EBADF);
}

static const struct arch_ops *next_stop(bool entered, struct regs *regs)
{
	struct syscall_stop stop;

	ck_assert_int_eq(ptrace_run_to_syscall(child, 0), 0);
	wait_for(SIGTRAP | 0x80);
	ck_assert_int_eq(ptrace_get_syscall(child, &stop), 0);
	ck_assert(stop.entered == entered);
	ck_assert_int_eq(ptrace_get_regs(child, regs), 0);
	return stop.arch;
}

START_TEST(system_calls)
{
	const struct system_call calls[] = {
		{ &arch_x86_64, SYS_pread64, { 101, 102, 103, 0x1234567890 } },
		{ &arch_i386, 180, { 201, 202, 203, 0x1234567890 } },
	};
	const struct arch_ops *arch;
	struct syscall_stop stop;
	struct regs entry, regs;

	start_child(make_system_calls);
	wait_for(SIGSTOP);
	ck_assert_int_eq(ptrace_get_syscall(child, &stop), -ENODATA);
	ck_assert_int_eq(ptrace_set_options(child, PTRACE_O_TRACESYSGOOD), 0);
	/* The end of raise() makes calls, too. */
	arch = next_stop(true, &entry);
	while (entry.user.orig_rax != calls[0].number) {
		ck_assert_ptr_nonnull(next_stop(false, &regs));
		arch = next_stop(true, &entry);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(calls); i++) {
		ck_assert_ptr_eq(arch, calls[i].arch);
		check_system_call(&calls[i], &entry);
		ck_assert_ptr_eq(next_stop(false, &regs), arch);
		check_system_result(&calls[i], &entry);
		arch = next_stop(true, &entry);
	}
	end_child();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("passing");
	TCase *tcase = tcase_create("values in a child");

	tcase_add_loop_test(tcase, functions, 0, ARRAY_SIZE(signatures));
	tcase_add_test(tcase, system_calls);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
