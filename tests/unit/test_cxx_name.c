/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/cxx_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "unit.h"

static void check(const char *name, const char *wanted)
{
	char *text = xstrdup(name);

	cxx_name_shorten(text);
	ck_assert_str_eq(text, wanted);
	free(text);
}

static void check_same(const char *name)
{
	check(name, name);
}

#define STRING                                                      \
	"std::__cxx11::basic_string<char, std::char_traits<char>, " \
	"std::allocator<char> >"
#define LIBCXX_STRING                                                \
	"std::__1::basic_string<char, std::__1::char_traits<char>, " \
	"std::__1::allocator<char> >"

START_TEST(strings)
{
	check(STRING, "std::string");
	check(LIBCXX_STRING, "std::string");
	check("f(" STRING " const&, int)", "f(std::string const&, int)");
	check("f(" STRING ", " STRING ")", "f(std::string, std::string)");
	check(STRING "::basic_string(char const*, unsigned long)",
	      "std::string::basic_string(char const*, unsigned long)");
	check("std::basic_ostream<char, std::char_traits<char> >& std::"
	      "operator<< <std::char_traits<char> >(std::basic_ostream<char, "
	      "std::char_traits<char> >&, char const*)",
	      "std::ostream& std::operator<< <std::char_traits<char> >("
	      "std::ostream&, char const*)");
}
END_TEST

START_TEST(containers)
{
	check("std::vector<int, std::allocator<int> >::at(int)",
	      "std::vector<int>::at(int)");
	check("std::vector<" STRING ", std::allocator<" STRING " > >::at(int)",
	      "std::vector<std::string>::at(int)");
	check("f(std::vector<std::vector<int, std::allocator<int> >, "
	      "std::allocator<std::vector<int, std::allocator<int> > > >)",
	      "f(std::vector<std::vector<int> >)");
	check("std::map<" STRING ", long, std::less<" STRING " >, "
	      "std::allocator<std::pair<" STRING " const, long> > >::size()",
	      "std::map<std::string, long>::size()");
	check("std::unordered_set<int, std::hash<int>, std::equal_to<int>, "
	      "std::allocator<int> >::clear()",
	      "std::unordered_set<int>::clear()");
	check("std::unique_ptr<A, std::default_delete<A> >::get() const",
	      "std::unique_ptr<A>::get() const");
	check("mine<std::vector<int, std::allocator<int> >, long>()",
	      "mine<std::vector<int>, long>()");
}
END_TEST

/* Two names must not become one. */
START_TEST(what_says_something_stays)
{
	check_same("main");
	check_same("f(std::vector<int, std::allocator<long> >)");
	check_same("f(std::vector<int, mine<int> >)");
	check("f(std::basic_string<char, std::char_traits<char>, mine<char> >)",
	      "f(std::basic_string<char, std::char_traits<char>, "
	      "mine<char> >)");
	check_same("mine::vector<int, std::allocator<int> >::at(int)");
	check_same("void std::sort<int*, std::less<int> >(int*, int*)");
	check_same("void std::sort<int, std::less<int> >(int, int)");
	check_same("std::set<int, std::greater<int> >::begin()");
	check("std::basic_string<wchar_t, std::char_traits<wchar_t>, "
	      "std::allocator<wchar_t> >::size()",
	      "std::basic_string<wchar_t>::size()");
	check_same("mystd::basic_string<int>::size()");
	check_same("std::basic_strings");
}
END_TEST

START_TEST(what_does_not_fit_together)
{
	check_same("");
	check_same("std::");
	check_same(", std::allocator<int>");
	check_same("<, std::allocator<int>");
	check_same("std::a<int, std::allocator<");
	check_same("std::a<int, std::allocator<int");
	check_same("std::a<int, std::allocator<int>");
	check_same("std::operator<<, std::allocator<int> >>>>(int)");
	check_same(">>>>, std::less<>> std::basic_<");
}
END_TEST

static Suite *my_suite(void)
{
	Suite *suite = suite_create("cxx_name");
	TCase *tcase = tcase_create("cxx_name");

	tcase_add_test(tcase, strings);
	tcase_add_test(tcase, containers);
	tcase_add_test(tcase, what_says_something_stays);
	tcase_add_test(tcase, what_does_not_fit_together);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(my_suite());
}
