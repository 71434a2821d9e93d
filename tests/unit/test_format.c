/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype_fixture.h"

static const char *printf_shows(const char *format)
{
	static char expected[256];

	data.used = 256;
	arguments[0] = put_text(format);
	snprintf(expected, sizeof(expected), "%s", print("printf", ENTRY));
	/* Less the format itself. */
	return strchr(expected, '|') ? strchr(expected, '|') + 2 : expected;
}

START_TEST(formats_call_for_arguments)
{
	add_text("int printf(format);\n");
	data.used = 0;
	arguments[1] = put_text("text");
	ck_assert_str_eq(printf_shows("%s|"), ", \"text\"");
	ck_assert_str_eq(printf_shows("%.2s|"), ", \"te\"");
	ck_assert_str_eq(printf_shows("%p|"), ", 0x10000");
	ck_assert_str_eq(printf_shows("%n|"), ", 0x10000");
	arguments[1] = -1;
	arguments[2] = 'A';
	arguments[3] = 0x1ffffffff;
	ck_assert_str_eq(printf_shows("none|"), "");
	ck_assert_str_eq(printf_shows("100%% %m|"), "");
	ck_assert_str_eq(printf_shows("%d %c %x|"), ", -1, 'A', 0xffffffff");
	ck_assert_str_eq(printf_shows("%-+ #0'8.3i|"), ", -1");
	ck_assert_str_eq(printf_shows("%u %o|"), ", 4294967295, 0101");
	ck_assert_str_eq(printf_shows("%ld %hhd %hu|"), ", -1, 65, 65535");
	ck_assert_str_eq(printf_shows("%zu|"), ", 18446744073709551615");
	ck_assert_str_eq(printf_shows("%jd %lld %td|"), ", -1, 65, 8589934591");
	ck_assert_str_eq(printf_shows("%*d|"), ", -1, 65");
	arguments[4] = DATA;
	arguments[1] = 10;
	arguments[3] = DATA;
	ck_assert_str_eq(printf_shows("%*.*s|"), ", 10, 65, \"text\"");
	arguments[2] = 1;
	ck_assert_str_eq(printf_shows("%*.*s|"), ", 10, 1, \"t\"");
	arguments[2] = 0xffffffff;
	ck_assert_str_eq(printf_shows("%*.*s|"), ", 10, -1, \"text\"");
	arguments[1] = 0;
	ck_assert_str_eq(printf_shows("%s|"), ", nil");
	arguments[1] = 1;
	ck_assert_str_eq(printf_shows("%s|"), ", 0x1?");
}
END_TEST

START_TEST(formats_stop_where_they_cannot_go_on)
{
	struct strbuf many = { 0 };

	add_text("int printf(format);\n");
	ck_assert_str_eq(printf_shows("%d %r %d|"), ", 0, ...");
	ck_assert_str_eq(printf_shows("%2$d|"), ", ...");
	ck_assert_str_eq(printf_shows("%1$d %3$d|"), ", 0, ...");
	ck_assert_str_eq(printf_shows("%99999999999999999999$d|"), ", ...");
	ck_assert_str_eq(printf_shows("%d|%"), "\", 0, ...");
	ck_assert_str_eq(printf_shows("%y %d|"), ", ...");
	for (int i = 0; i < 40; i++)
		strbuf_puts(&many, "%c");
	data.used = 256;
	arguments[0] = put_text(strbuf_text(&many));
	ck_assert_ptr_nonnull(strstr(print("printf", ENTRY), "'\\0', ..."));
	strbuf_fini(&many);
	arguments[0] = 5;
	ck_assert_str_eq(print("printf", ENTRY), "0x5?");
	arguments[0] = 0;
	ck_assert_str_eq(print("printf", ENTRY), "nil");
}
END_TEST

/* The bits of a double, as an argument. */
static uint64_t word_of(double value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof(word));
	return word;
}

START_TEST(formats_of_real_numbers)
{
	long double extended = 1.25L;
	char hexadecimal[32];

	add_text("int printf(format);\n");
	arguments[1] = word_of(2.5);
	arguments[2] = word_of(-0.1);
	arguments[3] = word_of(1e100);
	ck_assert_str_eq(printf_shows("%f %5.1g %E|"), ", 2.5, -0.1, 1e+100");
	ck_assert_str_eq(printf_shows("%a|"), ", 0x1.4p+1");
	ck_assert_str_eq(printf_shows("%lf|"), ", 2.5");
	memcpy(&arguments[1], &extended, sizeof(extended));
	ck_assert_str_eq(printf_shows("%Lf %g|"), ", 1.25, 1e+100");
	/* 0xap-3 of ten bytes, 0x1.4p+0 of sixteen */
	snprintf(hexadecimal, sizeof(hexadecimal), ", %La", extended);
	ck_assert_str_eq(printf_shows("%La|"), hexadecimal);
}
END_TEST

START_TEST(formats_of_wide_characters)
{
	static const uint32_t text[] = { 'e', 0xe9, 0x20ac, 0x1f600, 0 };

	add_text("int printf(format);\n");
	data.used = 0;
	arguments[1] = put(text, sizeof(text));
	arguments[2] = 'A';
	ck_assert_str_eq(printf_shows("%ls %lc|"),
			 ", \"e\\u00e9\\u20ac\\U0001f600\", 'A'");
	ck_assert_str_eq(printf_shows("%S %C|"),
			 ", \"e\\u00e9\\u20ac\\U0001f600\", 'A'");
	ck_assert_str_eq(printf_shows("%.2ls|"), ", \"e\\u00e9\"");
}
END_TEST

START_TEST(wide_formats)
{
	static const uint32_t format[] = { '%', 'd', 0xe9, '%', 's', 0 };

	add_text("int wprintf(format(int*));\n"
		 "int wscanf(+format(int*));\n");
	ck_assert_str_eq(said, "");
	arguments[0] = put(format, sizeof(format));
	arguments[1] = put_text("\007");
	data.used += 6;
	arguments[2] = put_text("text");
	ck_assert_str_eq(print("wprintf", ENTRY),
			 "\"%d\\u00e9%s\", 65560, \"text\"");
	data.used = 24;
	put("\007\0\0\0", 4);
	result[0] = 2;
	ck_assert_str_eq(print("wscanf", LATER),
			 "\"%d\\u00e9%s\", 7, \"text\"");
	arguments[0] = 5;
	ck_assert_str_eq(print("wprintf", ENTRY), "0x5?");
}
END_TEST

START_TEST(formats_with_positions)
{
	add_text("int printf(format);\n");
	data.used = 0;
	arguments[1] = put_text("text");
	arguments[2] = -5;
	ck_assert_str_eq(printf_shows("%2$d %1$s|"), ", \"text\", -5");
	ck_assert_str_eq(printf_shows("%2$d %1$s %2$x|"), ", \"text\", -5");
	arguments[2] = 2;
	arguments[3] = 9;
	ck_assert_str_eq(printf_shows("%1$.*2$s %3$*2$d|"), ", \"te\", 2, 9");
}
END_TEST

START_TEST(formats_of_c23)
{
	add_text("int printf(format);\n");
	arguments[1] = 0x1fffffffful;
	arguments[2] = 5;
	ck_assert_str_eq(printf_shows("%w8d %b|"), ", -1, 0b101");
	ck_assert_str_eq(printf_shows("%w32d %w64d|"), ", -1, 5");
	ck_assert_str_eq(printf_shows("%wf16d|"), ", 8589934591");
}
END_TEST

static const char *scanf_shows(const char *format, int stored)
{
	static char shown_text[512];

	data.used = 256;
	arguments[0] = put_text(format);
	result[0] = stored;
	snprintf(shown_text, sizeof(shown_text), "%s", print("scanf", LATER));
	return strchr(shown_text, '|') + 2;
}

START_TEST(scanned_values)
{
	const int32_t numbers[] = { 7, -1 };
	const double real = 0.5;
	const long double extended = 1.5L;

	add_text("int scanf(+format);\n");
	ck_assert_str_eq(print("scanf", ENTRY), "");
	data.used = 0;
	arguments[1] = put(numbers, sizeof(numbers));
	arguments[2] = arguments[1] + 4;
	arguments[3] = put(&real, sizeof(real));
	arguments[4] = put("word\0xyz", 8);
	arguments[5] = put(&extended, sizeof(extended));
	ck_assert_str_eq(scanf_shows("%d %u %lf %s %Lf|", 5),
			 ", 7, 4294967295, 0.5, \"word\", 1.5");
	ck_assert_str_eq(scanf_shows("%d %u %lf %s|", 2),
			 ", 7, 4294967295, 0x10008, 0x10010");
	ck_assert_str_eq(scanf_shows("%d %u|", -1), ", 0x10000, 0x10004");
	ck_assert_str_eq(scanf_shows("%d %u|", 0), ", 0x10000, 0x10004");
	ck_assert_str_eq(scanf_shows("%hhd %hx %lg|", 3), ", 7, 0xffff, 0.5");
	ck_assert_str_eq(scanf_shows("%*d %d%n|", 1), ", 7, -1");
	ck_assert_str_eq(scanf_shows("%% %d %y|", 1), ", 7, ...");
	arguments[1] = arguments[4];
	ck_assert_str_eq(scanf_shows("%[a-z]|", 1), ", \"word\"");
	ck_assert_str_eq(scanf_shows("%[]^-]|", 1), ", \"word\"");
	ck_assert_str_eq(scanf_shows("%[^]x] %i|", 2), ", \"word\", -1");
	ck_assert_str_eq(scanf_shows("%c|", 1), ", 'w'");
	ck_assert_str_eq(scanf_shows("%6c|", 1), ", \"word\\0x\"");
	data.used = 64;
	arguments[1] = put(&arguments[4], 8);
	ck_assert_str_eq(scanf_shows("%ms|", 1), ", \"word\"");
	ck_assert_str_eq(scanf_shows("%m[a-z]|", 1), ", \"word\"");
	ck_assert_str_eq(scanf_shows("%[abc|", 0), ", 0x10040");
	arguments[1] = 0;
	ck_assert_str_eq(scanf_shows("%d|", 1), ", nil");
	arguments[1] = 3;
	ck_assert_str_eq(scanf_shows("%d|", 1), ", 0x3?");
}
END_TEST

START_TEST(later_formats)
{
	add_text("int sprintf(+string, format);\n");
	arguments[0] = put_text("5");
	arguments[1] = put_text("%d");
	arguments[2] = 5;
	ck_assert_str_eq(print("sprintf", ENTRY), "");
	ck_assert_str_eq(print("sprintf", LATER), "\"5\", \"%d\", 5");
}
END_TEST

static Suite *format_suite(void)
{
	Suite *suite = suite_create("format");
	TCase *all_tests = tcase_create("format");

	tcase_add_checked_fixture(all_tests, setup, teardown);
	tcase_add_test(all_tests, formats_call_for_arguments);
	tcase_add_test(all_tests, formats_stop_where_they_cannot_go_on);
	tcase_add_test(all_tests, formats_of_real_numbers);
	tcase_add_test(all_tests, formats_of_wide_characters);
	tcase_add_test(all_tests, wide_formats);
	tcase_add_test(all_tests, formats_with_positions);
	tcase_add_test(all_tests, formats_of_c23);
	tcase_add_test(all_tests, scanned_values);
	tcase_add_test(all_tests, later_formats);
	suite_add_tcase(suite, all_tests);
	return suite;
}

int main(void)
{
	return unit_run(format_suite());
}
