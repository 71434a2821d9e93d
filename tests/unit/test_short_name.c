/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "report/format/names.h"
#include "report/format/short_name.h"
#include "unit.h"

static void check(const char *name, size_t width, const char *wanted)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	short_name_add(&out, name, width);
	ck_assert_str_eq(strbuf_text(&out), wanted);
}

START_TEST(short_ones_stay)
{
	check("main", 4, "main");
	check("", 0, "");
	check("std::map<int, std::set<int> >::at(int)", 40,
	      "std::map<int, std::set<int> >::at(int)");
}
END_TEST

START_TEST(inner_arguments_first)
{
	check("std::map<int, std::set<unsigned> >::at(int)", 40,
	      "std::map<int, std::set<...> >::at(int)");
	check("std::map<std::vector<std::pair<int, long> > >::at(int)", 45,
	      "std::map<std::vector<...> >::at(int)");
}
END_TEST

START_TEST(namespaces_have_no_arguments)
{
	check("(anonymous namespace)::Shape::take(int, long)", 30,
	      "(anonymous namespace)::Shape::take(...)");
	check("std::set<(anonymous namespace)::Shape>::at(int)", 30,
	      "std::set<...>::at(int)");
}
END_TEST

START_TEST(then_all_of_them)
{
	check("std::map<int, std::set<int> >::at(int)", 30,
	      "std::map<...>::at(int)");
	check("std::map<int, std::set<int> >::at(int, std::set<int>)", 30,
	      "std::map<...>::at(...)");
	check("f(int (*)(long), a<b>)", 3, "f(...)");
}
END_TEST

START_TEST(operators_are_no_brackets)
{
	check("a<int>::operator<(a<int> const&)", 5, "a<...>::operator<(...)");
	check("a<int>::operator<<(int)", 5, "a<...>::operator<<(...)");
	check("a<int>::operator->() const", 5, "a<...>::operator->(...) const");
	check("a<int>::operator()(int) const", 5,
	      "a<...>::operator()(...) const");
	check("void operator<=> <int>(int)", 5, "void operator<=> <...>(...)");
	check("my_operator<int>(int)", 5, "my_operator<...>(...)");
	check("operator new(unsigned long)", 5, "operator new(...)");
}
END_TEST

START_TEST(what_does_not_fit_together)
{
	check(">>>>))))", 1, ">>>>))))");
	check("<<<<((((", 1, "<...");
	check("((((<<<<", 1, "(...");
	check("a>b<c>d)e(f", 1, "a>b<...>d)e(...");
	check("bad\033name<int>", 3, "bad\\033name<...>");
}
END_TEST

START_TEST(long_ones_are_bounded)
{
	char *name = malloc(1 << 20);
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	memset(name, 'a', (1 << 20) - 1);
	name[(1 << 20) - 1] = '\0';
	short_name_add(&out, name, 60);
	ck_assert_uint_le(out.length, NAME_MAX_SHOWN + 8);
	memset(name, '<', (1 << 20) - 1);
	strbuf_clear(&out);
	short_name_add(&out, name, 60);
	ck_assert_uint_le(out.length, 8);
	free(name);
}
END_TEST

static Suite *my_suite(void)
{
	Suite *suite = suite_create("short_name");
	TCase *tcase = tcase_create("short_name");

	tcase_add_test(tcase, short_ones_stay);
	tcase_add_test(tcase, inner_arguments_first);
	tcase_add_test(tcase, namespaces_have_no_arguments);
	tcase_add_test(tcase, then_all_of_them);
	tcase_add_test(tcase, operators_are_no_brackets);
	tcase_add_test(tcase, what_does_not_fit_together);
	tcase_add_test(tcase, long_ones_are_bounded);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(my_suite());
}
