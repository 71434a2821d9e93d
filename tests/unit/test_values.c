/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype_fixture.h"

#include "prototype/numbers.h"
#include "prototype/printer.h"

START_TEST(integers_are_cut_to_their_size)
{
	uint64_t word = 0xfedcba98fffefdfcull;

	ck_assert_str_eq(shown("int", word), "-66052");
	ck_assert_str_eq(shown("uint", word), "4294901244");
	ck_assert_str_eq(shown("short", word), "-516");
	ck_assert_str_eq(shown("ushort", word), "65020");
	ck_assert_str_eq(shown("uchar", word), "252");
	ck_assert_str_eq(shown("int8", word), "-4");
	ck_assert_str_eq(shown("long", word), "-81985526906814980");
	ck_assert_str_eq(shown("ulong", -1), "18446744073709551615");
	ck_assert_str_eq(shown("ullong", -1), "18446744073709551615");
	ck_assert_str_eq(shown("int64", -1), "-1");
	ck_assert_str_eq(shown("uint16", -1), "65535");
}
END_TEST

START_TEST(lenses_change_how_integers_are_shown)
{
	ck_assert_str_eq(shown("hex(int)", -1), "0xffffffff");
	ck_assert_str_eq(shown("hex(ulong)", 0x1234567890ull), "0x1234567890");
	ck_assert_str_eq(shown("hex(char)", -1), "0xff");
	ck_assert_str_eq(shown("hex(uint)", 0), "0");
	ck_assert_str_eq(shown("oct(uint)", 0644), "0644");
	ck_assert_str_eq(shown("octal", 0), "0");
	ck_assert_str_eq(shown("bool(int)", 0), "false");
	ck_assert_str_eq(shown("bool(int)", 0x100), "true");
	ck_assert_str_eq(shown("bool", 0x100), "false");
	ck_assert_str_eq(shown("hide(int)", 3), "");
	ck_assert_str_eq(shown("hide(string)", 3), "");
	ck_assert_str_eq(shown("guess(int)", 0xffffffff), "-1");
	ck_assert_str_eq(shown("errname", 25), "25 (ENOTTY)");
	ck_assert_str_eq(shown("errname", 0), "0");
	ck_assert_str_eq(shown("errname", 0xffffffff), "-1");
	ck_assert_str_eq(shown("errname", 99999), "99999");
	ck_assert_str_eq(shown("guess_string", 10000), "10000");
	ck_assert_str_eq(shown("guess_string", -1), "-1");
}
END_TEST

/* Without a glance at what numbers alone are printed by. */
static const char *printed_by_types(const struct prototype *prototype,
				    enum part part)
{
	static struct strbuf out;
	const struct call_values values = values_on(&machine64, part);
	struct text_writer writer;

	strbuf_clear(&out);
	writer = text_writer_to(&out, print_style(&limits));
	if (part == ENTRY)
		print_any_entry(prototype, &values, &limits, &writer.writer);
	else
		print_any_result(prototype, &values, &limits, &writer.writer);
	return strbuf_text(&out);
}

/* By what other writers are given of them. */
static const char *written(const struct prototype *prototype, enum part part)
{
	static struct strbuf out;
	const struct call_values values = values_on(&machine64, part);
	struct text_writer writer;

	strbuf_clear(&out);
	writer = text_writer_to(&out, print_style(&limits));
	if (part == ENTRY)
		prototype_write_entry(prototype, &values, &limits,
				      &writer.writer);
	else
		prototype_write_result(prototype, &values, &limits,
				       &writer.writer);
	return strbuf_text(&out);
}

static void expect_as_by_types(const struct prototype *prototype,
			       const char *name)
{
	ck_assert_str_eq(print(name, ENTRY),
			 printed_by_types(prototype, ENTRY));
	ck_assert_str_eq(print(name, RESULT),
			 printed_by_types(prototype, RESULT));
	ck_assert_str_eq(written(prototype, ENTRY),
			 printed_by_types(prototype, ENTRY));
	ck_assert_str_eq(written(prototype, RESULT),
			 printed_by_types(prototype, RESULT));
}

START_TEST(numbers_alone_are_printed_as_all_else)
{
	static const uint64_t words[] = { 0,     1,          127,       128,
					  10000, 10001,      -10000,    -10001,
					  -1,    0x80000000, 1ull << 63 };
	static const char *const names[] = { "f", "g", "h", "i", "k" };
	struct call_values values;
	struct strbuf quick = { 0 };

	add_text("int f(int a, uint, long, ulong, addr, guess);\n"
		 "addr g(short, uchar s, hex(int), hex(ulong), int8, +int);\n"
		 "guess h();\n"
		 "void i(hide(int), guess_string);\n"
		 "char(int) k(char, bool, oct(int), bin(uint), "
		 "flags(A=1, B=0x80), enum(C, D=127));\n");
	for (unsigned i = 0; i < ARRAY_SIZE(words) * 5; i++) {
		const char *name = names[i % 5];
		const struct prototype *prototype =
			prototypes_find(all, NULL, name);

		ck_assert_ptr_nonnull(prototype);
		for (unsigned k = 0; k < 6; k++)
			arguments[k] = words[(i / 5 + k) % ARRAY_SIZE(words)];
		result[0] = words[i / 5];
		values = values_on(&machine64, ENTRY);
		strbuf_clear(&quick);
		ck_assert_int_eq(numbers_print_entry(prototype, &values,
						     &limits, &quick),
				 *name != 'i');
		expect_as_by_types(prototype, name);
		expect_as_by_types(NULL, NULL);
	}
	strbuf_fini(&quick);
}
END_TEST

START_TEST(texts_among_numbers_are_printed_as_all_else)
{
	static const char *const texts[] = {
		"",
		"text",
		"seven\\7",
		"eight \"8\"",
		"\001\0021 gr\303\274n \377",
		"1234567890123456789012345678901",
		"12345678901234567890123456789012",
		"123456789012345678901234567890123",
		"a longer one, of more than so many bytes, by far",
	};
	static const unsigned most[] = { 32, 0, 1, 8, 511, 512, 5000 };
	const struct prototype *prototype;
	struct call_values values;
	struct strbuf quick = { 0 };
	unsigned i, k;

	add_text("at(string) f(int a, string path, bytes[arg5] b, "
		 "at(string[arg6]), int, ulong);\n");
	prototype = prototypes_find(all, NULL, "f");
	ck_assert_ptr_nonnull(prototype);
	data.bytes[sizeof(data.bytes) - 1] = 'x';
	for (i = 0; i < ARRAY_SIZE(texts) + 3; i++) {
		const taddr_t at = i < ARRAY_SIZE(texts)  ? put_text(texts[i]) :
				   i == ARRAY_SIZE(texts) ? 0 :
				   i % 2                  ? 0x42 :
					   DATA + sizeof(data.bytes) - 1;

		arguments[0] = i;
		arguments[1] = arguments[2] = arguments[3] = result[0] = at;
		arguments[4] = i * 5 - 5; /* -5, too */
		arguments[5] = i * 6;
		values = values_on(&machine64, ENTRY);
		for (k = 0; k < ARRAY_SIZE(most); k++) {
			limits.string_bytes = most[k];
			strbuf_clear(&quick);
			ck_assert_int_eq(numbers_print_entry(prototype, &values,
							     &limits, &quick),
					 most[k] < 512);
			expect_as_by_types(prototype, "f");
		}
	}
	limits.string_bytes = 32;
	strbuf_fini(&quick);
}
END_TEST

START_TEST(characters_are_quoted)
{
	ck_assert_str_eq(shown("char", 'A'), "'A'");
	ck_assert_str_eq(shown("char", '\n'), "'\\n'");
	ck_assert_str_eq(shown("char", '\''), "'\\''");
	ck_assert_str_eq(shown("char", '"'), "'\"'");
	ck_assert_str_eq(shown("char", 0), "'\\0'");
	ck_assert_str_eq(shown("char", 0x80), "'\\200'");
	ck_assert_str_eq(shown("char", -1), "'\\377'");
	ck_assert_str_eq(shown("char(int)", 'x'), "'x'");
	ck_assert_str_eq(shown("char(int)", 0xff), "'\\377'");
	ck_assert_str_eq(shown("char(int)", 1000), "1000");
	ck_assert_str_eq(shown("char(int)", 0xffffffff), "EOF");
}
END_TEST

START_TEST(enums_show_names)
{
	const char *colours = "enum(RED, GREEN=5, BLUE, LAST=-2)";

	ck_assert_str_eq(shown(colours, 0), "RED");
	ck_assert_str_eq(shown(colours, 6), "BLUE");
	ck_assert_str_eq(shown(colours, 0xfffffffe), "LAST");
	ck_assert_str_eq(shown(colours, 7), "7");
	ck_assert_str_eq(shown("enum[uchar](ALL=0xff)", -1), "ALL");
	ck_assert_str_eq(shown("enum[ulong](ALL=0xffffffffffffffff)", -1),
			 "ALL");
}
END_TEST

START_TEST(bit_vectors_show_bits)
{
	ck_assert_str_eq(shown("bitvec(uint)", 0xb8), "<3-5,7>");
	ck_assert_str_eq(shown("bitvec(uint)", 0), "<>");
	ck_assert_str_eq(shown("bitvec(uint)", 0xfffffffe), "~<0>");
	ck_assert_str_eq(shown("bitvec(ushort)", 0xffff), "~<>");
	ck_assert_str_eq(shown("bitvec(ulong)", 1ull << 63), "<63>");
}
END_TEST

START_TEST(pointers_show_what_is_behind_them)
{
	int number = -7;
	taddr_t inner = put(&number, sizeof(number));
	taddr_t outer = put(&inner, sizeof(inner));
	taddr_t text = put_text("text");
	taddr_t to_text = put(&text, sizeof(text));

	ck_assert_str_eq(shown("addr", 0x1234), "0x1234");
	ck_assert_str_eq(shown("file", 0x1234), "0x1234");
	ck_assert_str_eq(shown("void*", 0x1234), "0x1234");
	ck_assert_str_eq(shown("addr", 0), "nil");
	ck_assert_str_eq(shown("int*", 0), "nil");
	ck_assert_str_eq(shown("int*", inner), "-7");
	ck_assert_str_eq(shown("hex(int*)", inner), "0xfffffff9");
	ck_assert_str_eq(shown("int * *", outer), "-7");
	ck_assert_str_eq(shown("int*", 0x42), "0x42?");
	ck_assert_str_eq(shown("char*", text), "'t'");
	ck_assert_str_eq(shown("string*", to_text), "\"text\"");
	ck_assert_str_eq(shown("void**", to_text), "0x1000c");
}
END_TEST

START_TEST(arrays_show_their_elements)
{
	int numbers[] = { 1, 2, 3, 4, 5, 0 };
	taddr_t at = put(numbers, sizeof(numbers));

	ck_assert_str_eq(shown("array(int, 2)", at), "[1, 2]");
	ck_assert_str_eq(shown("array(int, 5)*", at), "[1, 2, 3, 4...]");
	ck_assert_str_eq(shown("array(int, zero)", at), "[1, 2, 3, 4...]");
	ck_assert_str_eq(shown("array(int, zero)", at + 8), "[3, 4, 5]");
	ck_assert_str_eq(shown("array(int, zero(1))", at), "[1]");
	ck_assert_str_eq(shown("array(int, 2)", 0x42), "0x42?");
	ck_assert_str_eq(shown("hex(array(int, 1))", at), "[0x1]");
}
END_TEST

START_TEST(nested_arrays_come_to_an_end)
{
	struct strbuf type = { 0 };
	taddr_t self[4] = { DATA, DATA, DATA, DATA };

	put(self, sizeof(self));
	for (int i = 0; i < 14; i++)
		strbuf_puts(&type, "array(");
	strbuf_puts(&type, "int");
	for (int i = 0; i < 14; i++)
		strbuf_puts(&type, ", 4)*");
	ck_assert_uint_lt(strlen(shown(strbuf_text(&type), DATA)), 1000000);
	strbuf_fini(&type);
}
END_TEST

START_TEST(strings_are_escaped)
{
	ck_assert_str_eq(shown_text("plain"), "\"plain\"");
	ck_assert_str_eq(shown_text(""), "\"\"");
	ck_assert_str_eq(shown_text("say \"no\" \\"),
			 "\"say \\\"no\\\" \\\\\"");
	ck_assert_str_eq(shown_text("\t\n\r\a\b\v\f'"),
			 "\"\\t\\n\\r\\a\\b\\v\\f'\"");
	ck_assert_str_eq(shown_text("\001x\0017\377"), "\"\\001x\\0017\\377\"");
}
END_TEST

START_TEST(strings_are_limited)
{
	limits.string_bytes = 3;
	ck_assert_str_eq(shown_text("abc"), "\"abc\"");
	ck_assert_str_eq(shown_text("abcd"), "\"abc\"...");
	limits.string_bytes = 0;
	ck_assert_str_eq(shown_text("abcd"), "\"\"...");
	ck_assert_str_eq(shown_text(""), "\"\"");
	limits.string_bytes = 32;
}
END_TEST

START_TEST(bad_strings_show_addresses)
{
	taddr_t last = DATA + sizeof(data.bytes) - 3;

	memcpy(data.bytes + sizeof(data.bytes) - 3, "end", 3);
	ck_assert_str_eq(shown("string", 0), "nil");
	ck_assert_str_eq(shown("string", 0xdead), "0xdead?");
	ck_assert_str_eq(shown("string", -1), "0xffffffffffffffff?");
	ck_assert_str_eq(shown("string", last), "\"end\"...");
	ck_assert_str_eq(shown("string[3]", last), "\"end\"");
	ck_assert_str_eq(shown("string[4]", last), "\"end\"...");
}
END_TEST

START_TEST(long_strings_come_in_pieces)
{
	char text[6000];
	const char *printed;

	memset(text, 'x', sizeof(text));
	text[5000] = '\0';
	limits.string_bytes = -1;
	printed = shown("string", put(text, sizeof(text)));
	ck_assert_uint_eq(strlen(printed), 5002);
	printed = shown("bytes[6000]", DATA);
	ck_assert_uint_eq(strlen(printed), 5002 + 2 + 999);
	limits.string_bytes = 32;
}
END_TEST

/* What a type shows of these bytes, behind a pointer. */
static const char *shown_at(const char *type, const void *bytes, size_t n)
{
	char *pointer = xasprintf("%s*", type);
	const char *printed;

	data.used = 0;
	memset(data.bytes, 0, sizeof(data.bytes));
	printed = shown(pointer, put(bytes, n));
	free(pointer);
	return printed;
}

#define SHOWN(type, ...) shown_at(type, &(__VA_ARGS__), sizeof(__VA_ARGS__))

START_TEST(real_numbers_show_what_tells_them_apart)
{
	char hexadecimal[32];

	ck_assert_str_eq(SHOWN("float", (float){ 0.1f }), "0.1");
	ck_assert_str_eq(SHOWN("double", (double){ 0.1f }),
			 "0.10000000149011612");
	ck_assert_str_eq(SHOWN("double", (double){ 0.1 }), "0.1");
	ck_assert_str_eq(SHOWN("double", (double){ 1.0 / 3 }),
			 "0.3333333333333333");
	ck_assert_str_eq(SHOWN("double", (double){ -2 }), "-2.0");
	ck_assert_str_eq(SHOWN("double", (double){ -0.0 }), "-0.0");
	ck_assert_str_eq(SHOWN("double", (double){ 5e-324 }),
			 "4.94065645841247e-324");
	ck_assert_str_eq(SHOWN("double", (double){ 1e22 }), "1e+22");
	ck_assert_str_eq(SHOWN("double", (double){ __builtin_inf() }), "inf");
	ck_assert_str_eq(SHOWN("float", (float){ -__builtin_inff() }), "-inf");
	ck_assert_str_eq(SHOWN("double", (double){ __builtin_nan("") }), "nan");
	ck_assert_str_eq(SHOWN("ldouble", (long double){ 0.1L }), "0.1");
	ck_assert_str_eq(SHOWN("hex(float)", (float){ 1.5f }), "0x1.8p+0");
	/* 0xcp-3 of ten bytes, 0x1.8p+0 of sixteen */
	snprintf(hexadecimal, sizeof(hexadecimal), "%La", 1.5L);
	ck_assert_str_eq(SHOWN("hex(ldouble)", (long double){ 1.5L }),
			 hexadecimal);
	ck_assert_str_eq(shown("double*", 0x42), "0x42?");
}
END_TEST

START_TEST(complex_numbers_have_two_parts)
{
	const float single[] = { 1, -0.5f };
	const double twice[] = { 0.1, 2 };
	const long double extended[] = { 3.5L, -1 };

	ck_assert_str_eq(SHOWN("cfloat", single), "1.0-0.5i");
	ck_assert_str_eq(SHOWN("cdouble", twice), "0.1+2.0i");
	ck_assert_str_eq(SHOWN("cldouble", extended), "3.5-1.0i");
	ck_assert_str_eq(shown("cdouble*", 0x42), "0x42?");
	ck_assert_str_eq(shown("cdouble*", DATA + sizeof(data.bytes) - 8),
			 "0x11ff8?");
}
END_TEST

START_TEST(integers_of_128_bits)
{
	const uint64_t small[] = { 5, 0 };
	const uint64_t minus[] = { -5, -1 };
	const uint64_t large[] = { 0, 64 };
	const uint64_t lowest[] = { 0, 1ull << 63 };

	ck_assert_str_eq(SHOWN("int128", small), "5");
	ck_assert_str_eq(SHOWN("int128", minus), "-5");
	ck_assert_str_eq(SHOWN("uint128", minus),
			 "340282366920938463463374607431768211451");
	ck_assert_str_eq(SHOWN("int128", large), "1180591620717411303424");
	ck_assert_str_eq(SHOWN("hex(int128)", large), "0x400000000000000000");
	ck_assert_str_eq(SHOWN("hex(int128)", minus),
			 "0xfffffffffffffffffffffffffffffffb");
	ck_assert_str_eq(SHOWN("int128", lowest),
			 "-170141183460469231731687303715884105728");
	ck_assert_str_eq(SHOWN("bitvec(int128)", large), "<70>");
	ck_assert_uint_eq(strlen(SHOWN("bin(uint128)", lowest)), 2 + 128);
	ck_assert_str_eq(shown("int128*", 0x42), "0x42?");
}
END_TEST

START_TEST(flags_show_names_of_bits)
{
	const char *access = "flags(RDONLY=0/3, WRONLY=1/3, RDWR=2/3, "
			     "CREAT=0100, SYNC=04010000, DSYNC=010000)";
	const char *prot = "flags[ulong](NONE=0, READ=1, WRITE=2)";

	ck_assert_str_eq(shown(access, 0), "RDONLY");
	ck_assert_str_eq(shown(access, 2), "RDWR");
	ck_assert_str_eq(shown(access, 3), "0x3");
	ck_assert_str_eq(shown(access, 0x40000042), "RDWR|CREAT|0x40000000");
	ck_assert_str_eq(shown(access, 04010001), "WRONLY|SYNC");
	ck_assert_str_eq(shown(access, 010001), "WRONLY|DSYNC");
	ck_assert_str_eq(shown(access, 04000001), "WRONLY|0x100000");
	ck_assert_str_eq(shown(prot, 0), "NONE");
	ck_assert_str_eq(shown(prot, 3), "READ|WRITE");
	ck_assert_str_eq(shown(prot, 4), "0x4");
	ck_assert_str_eq(shown("flags(A=1)", 0), "0");
	ck_assert_str_eq(shown("flags(A=-2147483648, B=1)", 0x80000001), "A|B");
	ck_assert_str_eq(shown("flags[uchar](A=0x80)", 0x1ff), "A|0x7f");
	ck_assert_str_eq(shown("flags[ullong](A=0x8000000000000000)",
			       1ull << 63),
			 "A");
}
END_TEST

START_TEST(binary_numbers)
{
	ck_assert_str_eq(shown("bin(uint)", 10), "0b1010");
	ck_assert_str_eq(shown("bin", 0), "0");
	ck_assert_str_eq(shown("bin(schar)", -1), "0b11111111");
}
END_TEST

struct inner {
	char c;
	double d;
};

struct outer {
	char c;
	struct inner inner;
	short numbers[3];
	const char *text;
	uint8_t last;
};

START_TEST(structs_show_their_members)
{
	struct outer value = { 'x', { 'y', 0.5 }, { 1, 2, 3 }, NULL, 255 };

	ck_assert_str_eq(SHOWN("struct(char, struct(char c, double d) inner, "
			       "array(short, 3) numbers, string, uchar last)",
			       value),
			 "{'x', inner={c='y', d=0.5}, numbers=[1, 2, 3], nil, "
			 "last=255}");
	ck_assert_str_eq(SHOWN("struct(int, hide(int), int)",
			       (const int[]){ 1, 2, 3 }),
			 "{1, 3}");
	ck_assert_str_eq(SHOWN("struct()", value), "{}");
	ck_assert_str_eq(SHOWN("hex(struct(int, struct(int)))",
			       (const int[]){ 16, 17 }),
			 "{0x10, {0x11}}");
	ck_assert_str_eq(SHOWN("bitvec(struct(int, int))",
			       (const int[]){ 6, 128 }),
			 "<1-2,39>");
	ck_assert_str_eq(SHOWN("struct(string(array(char, 6)), float)",
			       (const uint32_t[]){ 0x64636261, 0x6665,
						   0x3f800000 }),
			 "{\"abcdef\", 1.0}");
	ck_assert_str_eq(shown("struct(int)*", 0), "nil");
	ck_assert_str_eq(shown("struct(int)*", 0x42), "0x42?");
	ck_assert_str_eq(shown("struct(int, int)*",
			       DATA + sizeof(data.bytes) - 4),
			 "{0, 0x12000?}");
}
END_TEST

START_TEST(unions_show_all_they_may_be)
{
	const float one = 1;

	ck_assert_str_eq(SHOWN("union(float f, hex(uint) bits)", one),
			 "{f=1.0, bits=0x3f800000}");
	ck_assert_str_eq(SHOWN("struct(char, union(llong, char), char)",
			       (const uint64_t[]){ 'a', 'b', 'c' }),
			 "{'a', {98, 'b'}, 'c'}");
}
END_TEST

START_TEST(lengths_are_in_structs)
{
	const uint32_t numbers[] = { 2, 7, 8, 9 };

	ck_assert_str_eq(SHOWN("struct(uint, array(int, elt1))", numbers),
			 "{2, [7, 8]}");
	ck_assert_str_eq(SHOWN("struct(uint, array(int, elt1*1))", numbers),
			 "{2, [7, 8]}");
	ck_assert_str_eq(SHOWN("struct(uint, array(int, elt3))", numbers),
			 "{2, 0x10004}");
	ck_assert_str_eq(SHOWN("struct(uint, array(int, elt2))", numbers),
			 "{2, 0x10004}");
	ck_assert_str_eq(shown("array(int, elt1)", DATA), "0x10000");
}
END_TEST

/* As PHP has its strings: their characters begin in the struct. */
START_TEST(texts_are_in_structs)
{
	const struct {
		uint32_t count, kind;
		uint64_t hash;
		uint64_t length;
		char text[8];
	} string = { 1, 2, 3, 3, "keyrest" };

	ck_assert_str_eq(SHOWN("struct(hide(uint), hide(uint), hide(ulong), "
			       "hide(ulong), string(array(char, elt4)))",
			       string),
			 "{\"key\"}");
}
END_TEST

/* A list of so many, as it lies in memory. */
struct node {
	uint64_t number;
	taddr_t next;
	taddr_t previous;
};

static taddr_t put_list(unsigned count)
{
	taddr_t first = DATA + data.used;

	for (unsigned i = 0; i < count; i++) {
		taddr_t here = first + i * sizeof(struct node);
		struct node node = {
			.number = 9 - i,
			.next = i + 1 < count ? here + sizeof(node) : 0,
			.previous = i ? here - sizeof(node) : 0,
		};

		put(&node, sizeof(node));
	}
	return first;
}

static const char *list_shown(const char *list, taddr_t address)
{
	prototypes_free(all);
	all = prototypes_new();
	add_text(list);
	ck_assert_str_eq(said, "");
	arguments[0] = address;
	return print("f", ENTRY);
}

START_TEST(structs_that_lead_back_come_to_an_end)
{
	const char *list = "typedef list = struct;\n"
			   "typedef list = struct(long, list*, list*);\n"
			   "void f(list*);\n";
	const uint64_t self[] = { 1, DATA, DATA };

	put(self, sizeof(self));
	ck_assert_str_eq(list_shown(list, DATA), "{1, recurse, recurse}");
	ck_assert_str_eq(list_shown(list, put_list(2)),
			 "{9, {8, nil, recurse^}, nil}");
	ck_assert_str_eq(list_shown(list, put_list(5)),
			 "{9, {8, {7, {6, ..., recurse^}, recurse^}, "
			 "recurse^}, nil}");
	limits.array_elements = 2;
	ck_assert_str_eq(list_shown(list, put_list(3)),
			 "{9, {8, ..., recurse^}, nil}");
	limits.array_elements = 0;
	ck_assert_str_eq(list_shown(list, DATA), "...");
	limits.array_elements = 4;
}
END_TEST

START_TEST(large_structs_are_not_shown_whole)
{
	struct strbuf text = { 0 };

	strbuf_puts(&text, "typedef a = struct(int, int, int, int);\n");
	for (char c = 'b'; c < 'f'; c++)
		strbuf_printf(&text, "typedef %c = struct(%c, %c, %c, %c);\n",
			      c, c - 1, c - 1, c - 1, c - 1);
	strbuf_puts(&text, "void f(e*);\n");
	ck_assert_uint_lt(strlen(list_shown(strbuf_text(&text), DATA)), 4000);
	limits.array_elements = 10000;
	ck_assert_ptr_null(strstr(list_shown(strbuf_text(&text), DATA), "..."));
	limits.array_elements = 4;
	strbuf_fini(&text);
}
END_TEST

START_TEST(wide_strings)
{
	const uint32_t text[] = { 'a', 0xe9, 0x1f600, 0x110000, 0 };
	const uint16_t text16[] = { 'a', 0xe9, 0xd83d, 0xde00, 0xdc00, 0 };
	taddr_t at = put(text, sizeof(text));

	ck_assert_str_eq(shown("string(int*)", at),
			 "\"a\\u00e9\\U0001f600\\ufffd\"");
	ck_assert_str_eq(shown("string(array(uint, 2)*)", at), "\"a\\u00e9\"");
	limits.string_bytes = 2;
	ck_assert_str_eq(shown("string(int*)", at), "\"a\\u00e9\"...");
	limits.string_bytes = 32;
	ck_assert_str_eq(shown("string(ushort*)", put(text16, sizeof(text16))),
			 "\"a\\u00e9\\U0001f600\\ufffd\"");
	ck_assert_str_eq(shown("string(int*)", 0x42), "0x42?");
	ck_assert_str_eq(shown("string(int*)", DATA + sizeof(data.bytes) - 2),
			 "\"\"...");
}
END_TEST

START_TEST(what_may_be_text)
{
	const char *type = "maybe_string";
	char text[200];

	ck_assert_str_eq(shown(type, put_text("text\n")), "\"text\\n\"");
	ck_assert_str_eq(shown(type, put_text("")), "\"\"");
	ck_assert_str_eq(shown(type, put_text("gr\303\274n")),
			 "\"gr\\303\\274n\"");
	ck_assert_str_eq(shown(type, 0), "nil");
	ck_assert_str_eq(shown(type, 0x42), "0x42?");
	data.used = 0x100;
	ck_assert_str_eq(shown(type, put_text("\001\002")), "0x10100");
	data.used = 0x100;
	ck_assert_str_eq(shown(type, put_text("gr\374n")), "0x10100");
	data.used = 0x100;
	ck_assert_str_eq(shown(type, put_text("text\177")), "0x10100");
	/* Long texts are cut, and their ends are not looked for. */
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	data.used = 0x200;
	ck_assert_str_eq(shown(type, put_text(text)),
			 "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"...");
	text[20] = '\1';
	limits.string_bytes = 3;
	data.used = 0x300;
	ck_assert_str_eq(shown(type, put_text(text)), "0x10300");
	limits.string_bytes = 32;
	/* No end, and no more memory: it may be anything. */
	memcpy(data.bytes + sizeof(data.bytes) - 3, "end", 3);
	ck_assert_str_eq(shown(type, DATA + sizeof(data.bytes) - 3), "0x11ffd");
}
END_TEST

START_TEST(bit_vectors_of_many_bytes)
{
	const uint8_t set[16] = { 1, 0x80, 0, 0, 0, 0, 0, 0, 2 };

	ck_assert_str_eq(SHOWN("bitvec(array(ulong, 2))", set), "<0,15,65>");
	ck_assert_str_eq(SHOWN("bitvec(array(char, 9))", set), "<0,15,65>");
	ck_assert_str_eq(shown("bitvec(array(char, 9)*)", 0x42), "0x42?");
	ck_assert_ptr_nonnull(
		strstr(shown("bitvec(array(ulong, 100000000)*)", DATA),
		       "<0,15,65>"));
}
END_TEST

static Suite *values_suite(void)
{
	Suite *suite = suite_create("values");
	TCase *all_tests = tcase_create("values");

	tcase_add_checked_fixture(all_tests, setup, teardown);
	tcase_add_test(all_tests, integers_are_cut_to_their_size);
	tcase_add_test(all_tests, lenses_change_how_integers_are_shown);
	tcase_add_test(all_tests, numbers_alone_are_printed_as_all_else);
	tcase_add_test(all_tests, texts_among_numbers_are_printed_as_all_else);
	tcase_add_test(all_tests, characters_are_quoted);
	tcase_add_test(all_tests, enums_show_names);
	tcase_add_test(all_tests, bit_vectors_show_bits);
	tcase_add_test(all_tests, pointers_show_what_is_behind_them);
	tcase_add_test(all_tests, arrays_show_their_elements);
	tcase_add_test(all_tests, nested_arrays_come_to_an_end);
	tcase_add_test(all_tests, strings_are_escaped);
	tcase_add_test(all_tests, strings_are_limited);
	tcase_add_test(all_tests, bad_strings_show_addresses);
	tcase_add_test(all_tests, long_strings_come_in_pieces);
	tcase_add_test(all_tests, real_numbers_show_what_tells_them_apart);
	tcase_add_test(all_tests, complex_numbers_have_two_parts);
	tcase_add_test(all_tests, integers_of_128_bits);
	tcase_add_test(all_tests, flags_show_names_of_bits);
	tcase_add_test(all_tests, binary_numbers);
	tcase_add_test(all_tests, structs_show_their_members);
	tcase_add_test(all_tests, unions_show_all_they_may_be);
	tcase_add_test(all_tests, lengths_are_in_structs);
	tcase_add_test(all_tests, texts_are_in_structs);
	tcase_add_test(all_tests, structs_that_lead_back_come_to_an_end);
	tcase_add_test(all_tests, large_structs_are_not_shown_whole);
	tcase_add_test(all_tests, wide_strings);
	tcase_add_test(all_tests, what_may_be_text);
	tcase_add_test(all_tests, bit_vectors_of_many_bytes);
	suite_add_tcase(suite, all_tests);
	return suite;
}

int main(void)
{
	return unit_run(values_suite());
}
