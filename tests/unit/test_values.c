/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype_fixture.h"

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
	ck_assert_str_eq(shown("hex(ulong)", 0x1234567890ull),
			 "0x1234567890");
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
	ck_assert_str_eq(shown("char", -1), "EOF");
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
	ck_assert_str_eq(shown_text("\001x\0017\377"),
			 "\"\\001x\\0017\\377\"");
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

static Suite *values_suite(void)
{
	Suite *suite = suite_create("values");
	TCase *all_tests = tcase_create("values");

	tcase_add_checked_fixture(all_tests, setup, teardown);
	tcase_add_test(all_tests, integers_are_cut_to_their_size);
	tcase_add_test(all_tests, lenses_change_how_integers_are_shown);
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
	suite_add_tcase(suite, all_tests);
	return suite;
}

int main(void)
{
	return unit_run(values_suite());
}
