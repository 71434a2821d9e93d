/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype_fixture.h"

#include <stddef.h>

#include "prototype/flatten.h"
#include "prototype/layout.h"
#include "prototype/signature.h"

/* Each type as the language has it, and what the compiler makes of it. */

typedef double double4 __attribute__((aligned(4)));
typedef int64_t llong4 __attribute__((aligned(4)));

__extension__ typedef __int128 int128;

struct mixed {
	char c;
	short s;
	char c2;
	int64_t l;
	float f;
	void *p;
	_Bool b;
	long double x;
	char last;
};

struct mixed32 {
	char c;
	short s;
	char c2;
	llong4 l;
	float f;
	uint32_t p;
	_Bool b;
	uint32_t x[3];
	char last;
};

struct arrays {
	char text[5];
	struct {
		char c;
		double d[2];
	} inner[3];
	int128 wide;
	short end;
};

struct arrays32 {
	char text[5];
	struct {
		char c;
		double4 d[2];
	} inner[3];
	llong4 wide[2];
	short end;
};

union either {
	char text[9];
	float f;
	double _Complex c;
};

union either32 {
	char text[9];
	float f;
	double4 c[2];
};

#define MIXED \
	"struct(char, short, char, llong, float, addr, bool, ldouble, char)"
#define ARRAYS                                                          \
	"struct(array(char, 5), array(struct(char, array(double, 2)), " \
	"3), int128, short)"
#define EITHER "union(array(char, 9), float, cdouble)"

static const struct {
	const char *type;
	unsigned word_size;
	uint64_t size;
	uint32_t align;
	uint64_t last; /* where the last member lies */
} layouts[] = {
	{ MIXED, 8, sizeof(struct mixed), _Alignof(struct mixed),
	  offsetof(struct mixed, last) },
	{ MIXED, 4, sizeof(struct mixed32), _Alignof(struct mixed32),
	  offsetof(struct mixed32, last) },
	{ ARRAYS, 8, sizeof(struct arrays), _Alignof(struct arrays),
	  offsetof(struct arrays, end) },
	{ ARRAYS, 4, sizeof(struct arrays32), _Alignof(struct arrays32),
	  offsetof(struct arrays32, end) },
	{ EITHER, 8, sizeof(union either), _Alignof(union either), 0 },
	{ EITHER, 4, sizeof(union either32), _Alignof(union either32), 0 },
	{ "struct()", 8, 0, 1, 0 },
	{ "struct(array(int, zero))", 8, 0, 4, 0 },
	{ "struct(array(int, 0), char)", 8, 4, 4, 0 },
};

static const struct type *type_of(const char *text)
{
	char *line = xasprintf("int f(%s);\n", text);

	prototypes_free(all);
	all = prototypes_new();
	add_text(line);
	ck_assert_str_eq(said, "");
	free(line);
	return prototypes_find(all, NULL, "f")->parameters[0].type;
}

START_TEST(layouts_are_the_compiler_s)
{
	const struct type *type = type_of(layouts[_i].type);
	struct layout layout = layout_of(type, layouts[_i].word_size);
	struct layout_walk walk = layout_members(type, layouts[_i].word_size);
	uint64_t offset = 0;
	unsigned count = 0;

	ck_assert_uint_eq(layout.size, layouts[_i].size);
	ck_assert_uint_eq(layout.align, layouts[_i].align);
	while (layout_next(&walk, &offset))
		count++;
	ck_assert_uint_eq(offset, layouts[_i].last);
	ck_assert_uint_eq(count, type->count);
}
END_TEST

START_TEST(layouts_of_debug_information_are_kept)
{
	const struct type *number = type_builtin("int", 3);
	const struct type_member members[] = {
		{ .type = number, .offset = 3 },
		{ .type = number, .offset = 9, .bit_size = 3, .bit_offset = 7 },
	};
	const struct type packed = {
		.kind = TYPE_STRUCT,
		.complete = true,
		.placed = true,
		.bytes = 14,
		.align = 1,
		.count = 2,
		.members = members,
	};
	struct layout layout = layout_of(&packed, 8);
	struct flattened flat;

	ck_assert_uint_eq(layout.size, 14);
	ck_assert_uint_eq(layout.align, 1);
	flatten(&packed, 8, &flat);
	ck_assert_uint_eq(flat.value.count, 3);
	ck_assert_uint_eq(flat.scalars[0].offset, 3);
	ck_assert_uint_eq(flat.scalars[0].size, 4);
	/* A bit-field is the bytes that it touches. */
	ck_assert_uint_eq(flat.scalars[1].offset, 9);
	ck_assert_uint_eq(flat.scalars[1].size, 1);
	ck_assert_uint_eq(flat.scalars[2].offset, 10);
}
END_TEST

START_TEST(bit_fields_are_shown)
{
	const struct type *sign = type_builtin("int", 3);
	const struct type *none = type_builtin("uint", 4);
	const struct type_member members[] = {
		{ .type = none, .name = "a", .bit_size = 3 },
		{ .type = sign, .name = "b", .bit_size = 5, .bit_offset = 3 },
		{ .type = type_builtin("bool", 4),
		  .name = "c",
		  .offset = 1,
		  .bit_size = 1,
		  .bit_offset = 7 },
		{ .type = none, .name = "d", .offset = 4, .bit_size = 32 },
	};
	const struct type fields = {
		.kind = TYPE_STRUCT,
		.complete = true,
		.placed = true,
		.bytes = 8,
		.align = 4,
		.count = 4,
		.members = members,
	};
	const struct parameter parameter = { .type = &fields };
	const struct prototype prototype = {
		.result = type_builtin("void", 4),
		.parameters = &parameter,
		.count = 1,
		.later = 1,
	};
	struct bits {
		unsigned a : 3;
		int b : 5;
		unsigned : 7;
		_Bool c : 1;
		unsigned d : 32;
	} bits = { 5, -3, 1, 4000000000 };
	struct call_values values = values_on(&machine64, ENTRY);
	struct strbuf out = { 0 };

	memcpy(&arguments[0], &bits, sizeof(bits));
	prototype_print_entry(&prototype, &values, &limits, &out);
	ck_assert_str_eq(strbuf_text(&out),
			 "{a=5, b=-3, c=true, d=4000000000}");
	strbuf_fini(&out);
}
END_TEST

static const char *flat_text(const char *type, unsigned word_size)
{
	static struct strbuf out;
	struct flattened flat;

	flatten(type_of(type), word_size, &flat);
	strbuf_clear(&out);
	strbuf_printf(&out, "%llu/%u", (unsigned long long)flat.value.size,
		      flat.value.align);
	if (flat.value.aggregate)
		strbuf_puts(&out, " aggregate");
	if (flat.value.complex)
		strbuf_puts(&out, " complex");
	for (unsigned i = 0; i < flat.value.count; i++)
		strbuf_printf(&out, " %c%u@%u", "ifx"[flat.scalars[i].kind],
			      flat.scalars[i].size, flat.scalars[i].offset);
	return strbuf_text(&out);
}

START_TEST(values_are_flat_lists_of_numbers)
{
	ck_assert_str_eq(flat_text("char", 8), "1/1 i1@0");
	ck_assert_str_eq(flat_text("string", 4), "4/4 i4@0");
	ck_assert_str_eq(flat_text("float", 8), "4/4 f4@0");
	ck_assert_str_eq(flat_text("ldouble", 8), "16/16 x10@0");
	ck_assert_str_eq(flat_text("ldouble", 4), "12/4 x10@0");
	ck_assert_str_eq(flat_text("int128", 8), "16/16 i8@0 i8@8");
	ck_assert_str_eq(flat_text("cfloat", 8), "8/4 complex f4@0 f4@4");
	ck_assert_str_eq(flat_text("cldouble", 8),
			 "32/16 complex x10@0 x10@16");
	ck_assert_str_eq(flat_text("struct(char, double)", 8),
			 "16/8 aggregate i1@0 f8@8");
	ck_assert_str_eq(flat_text("struct(char, double)", 4),
			 "12/4 aggregate i1@0 f8@4");
	ck_assert_str_eq(flat_text("union(struct(int, float), double, "
				   "array(char, 2), int)",
				   8),
			 "8/8 aggregate i4@0 f8@0 i1@0 i1@1 f4@4");
	ck_assert_str_eq(flat_text("struct(array(long, 9))", 8),
			 "72/8 aggregate");
	ck_assert_str_eq(flat_text("struct()", 8), "0/1 aggregate");
}
END_TEST

START_TEST(structs_that_hold_themselves)
{
	struct type type = { .kind = TYPE_STRUCT,
			     .complete = true,
			     .placed = true,
			     .bytes = 8,
			     .count = 2 };
	const struct type_member members[] = { { .type = &type },
					       { .type = &type } };
	const struct parameter parameter = { .type = &type };
	const struct prototype prototype = {
		.result = &type,
		.parameters = &parameter,
		.count = 1,
		.later = 1,
	};
	struct call_values values = values_on(&machine64, RESULT);
	struct strbuf out = { 0 };

	type.members = members;
	prototype_print_entry(&prototype, &values, &limits, &out);
	prototype_print_result(&prototype, &values, &limits, &out);
	ck_assert_uint_lt(out.length, 1000);
	strbuf_fini(&out);
}
END_TEST

static Suite *layout_suite(void)
{
	Suite *suite = suite_create("layout");
	TCase *all_tests = tcase_create("layout");

	tcase_add_checked_fixture(all_tests, setup, teardown);
	tcase_add_loop_test(all_tests, layouts_are_the_compiler_s, 0,
			    ARRAY_SIZE(layouts));
	tcase_add_test(all_tests, layouts_of_debug_information_are_kept);
	tcase_add_test(all_tests, bit_fields_are_shown);
	tcase_add_test(all_tests, values_are_flat_lists_of_numbers);
	tcase_add_test(all_tests, structs_that_hold_themselves);
	suite_add_tcase(suite, all_tests);
	return suite;
}

int main(void)
{
	return unit_run(layout_suite());
}
