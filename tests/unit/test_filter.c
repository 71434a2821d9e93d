/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "base/xalloc.h"
#include "filter/filter.h"

static const struct filter_library program = {
	.path = "/usr/bin/prog",
	.is_main = true,
};
static const struct filter_library libt = {
	.path = "/opt/lib/libt.so.1.2",
	.soname = "libt.so",
};
static const struct filter_library libb = {
	.path = "/opt/lib-b/b_two.so",
	.soname = "b_2.so.1",
};

static const struct filter_library *library_named(const char *name)
{
	if (!strcmp(name, "MAIN"))
		return &program;
	return !strcmp(name, "t") ? &libt : &libb;
}

static struct filter *filter_of(const char *text)
{
	struct filter *filter = filter_new();
	char *message;
	size_t column;

	ck_assert_msg(!filter_add(filter, text, &message, &column),
		      "%s was refused", text);
	return filter;
}

/*
 * What a filter lets through of f1, f2, f3 and g1 in the program, in libt.so
 * ("t") and in b_two.so ("b"), as a string of "f1@MAIN f2@t".
 */
static char *matches_of(const struct filter *filter)
{
	static const char *const symbols[] = { "f1", "f2", "f3", "g1" };
	static const char *const libraries[] = { "MAIN", "t", "b" };
	struct strbuf out = { 0 };

	strbuf_puts(&out, "");
	for (size_t l = 0; l < ARRAY_SIZE(libraries); l++) {
		const struct filter_library *library =
			library_named(libraries[l]);
		size_t before = out.length;

		for (size_t s = 0; s < ARRAY_SIZE(symbols); s++)
			if (filter_matches(filter, symbols[s], library))
				strbuf_printf(&out, "%s%s@%s",
					      out.length ? " " : "", symbols[s],
					      libraries[l]);
		if (out.length != before)
			ck_assert(filter_may_match_library(filter, library));
	}
	return out.text;
}

struct example {
	const char *text;
	const char *matches;
};

#define EVERYTHING                                             \
	"f1@MAIN f2@MAIN f3@MAIN g1@MAIN f1@t f2@t f3@t g1@t " \
	"f1@b f2@b f3@b g1@b"
#define ALL_BUT_F1 "f2@MAIN f3@MAIN g1@MAIN f2@t f3@t g1@t f2@b f3@b g1@b"
#define ALL_F1     "f1@MAIN f1@t f1@b"

static const struct example examples[] = {
	/* The documented language. */
	{ "f[12]", "f1@MAIN f2@MAIN f1@t f2@t f1@b f2@b" },
	{ "/f[12]/@MAIN", "f1@MAIN f2@MAIN" },
	{ "/f1@b_.*/", "f1@b" },
	{ "/f1/@/b_.*/", "f1@b" },
	{ "-f1", ALL_BUT_F1 },
	{ "!f1", ALL_BUT_F1 },
	{ "f1+f2-f1", "f2@MAIN f2@t f2@b" },
	{ "+f1", ALL_F1 },
	{ "@libt.so", "f1@t f2@t f3@t g1@t" },
	{ "f?@libt.so-f3", "f1@t f2@t" },
	{ "@MAIN", "f1@MAIN f2@MAIN f3@MAIN g1@MAIN" },
	{ "*", EVERYTHING },
	{ "@", EVERYTHING },
	{ "f1@", ALL_F1 },
	{ "*@*", EVERYTHING },
	{ "-@MAIN-@libt*", "f1@b f2@b f3@b g1@b" },
	{ "-f*+f3@libt.so", "g1@MAIN f3@t g1@t g1@b" },
	{ "[!f]1@libt.so", "g1@t" },
	{ "[^f]1@libt.so", "g1@t" },
	{ "f[[:digit:]]@MAIN-f2", "f1@MAIN f3@MAIN" },
	{ "/f[[:digit:]]/@MAIN-f2", "f1@MAIN f3@MAIN" },
	{ "/.1@libt.*/", "f1@t g1@t" },
	{ "/@b_.*/", "f1@b f2@b f3@b g1@b" },
	{ "/f1@/", ALL_F1 },
	/* Whole names. */
	{ "f", "" },
	{ "/f/", "" },
	{ "1", "" },
	{ "/1/", "" },
	{ "/f1\\|f22/", ALL_F1 },
	{ "/f\\|f1/", ALL_F1 },
	/* Anchors. */
	{ "^f1$", ALL_F1 },
	{ "/^f1$/", ALL_F1 },
	{ "/^f1/", ALL_F1 },
	{ "/f1$/", ALL_F1 },
	{ "/^f.$/@/^libt.so$/", "f1@t f2@t f3@t" },
	{ "^f*", "f1@MAIN f2@MAIN f3@MAIN f1@t f2@t f3@t f1@b f2@b f3@b" },
	{ "/^f/", "" },
	{ "/^f1$@^b_.*$/", "f1@b" },
	{ "f1\\$", "" },
	{ "f1\\\\$", "" },
	/* Libraries: the file's name, the SONAME, the path. */
	{ "f1@libt.so.1.2", "f1@t" },
	{ "f1@b_two.so", "f1@b" },
	{ "f1@b_2.so.*", "f1@b" },
	{ "f1@lib", "" },
	{ "f1@*opt*", "" },
	{ "@/opt/lib/libt.so.1.2", "f1@t f2@t f3@t g1@t" },
	{ "f1@/opt/lib/libt.so.1.2", "f1@t" },
	{ "f1@/opt/lib/libt.so", "" },
	{ "f1@/opt/lib/*", "f1@t" },
	{ "f1@*/lib/*", "f1@t" },
	{ "f1@/.*\\/libt.*/", "f1@t" },
	{ "f1@/libt.so/", "f1@t" },
	/* A path keeps its signs up to the last slash. */
	{ "f1@/opt/lib-b/b_two.so", "f1@b" },
	{ "@/opt/lib-b/b_two.so-f1-g1", "f2@b f3@b" },
	{ "@/opt/lib-b/b_two.so-f1@/opt/lib-b/b_two.so", "f2@b f3@b g1@b" },
	{ "f1@/opt/lib-b/b_two.so+/g./@MAIN", "g1@MAIN f1@b" },
	{ "f1@libt.so+/g./@MAIN", "g1@MAIN f1@t" },
	{ "f1@libt.so-g1+/f2/@libt.so", "f1@t f2@t" },
	{ "f1@/opt/lib[+-]b/b_two.so", "f1@b" },
	{ "f1@/opt/c++/libc++.so/x+g1@MAIN", "g1@MAIN" },
};

START_TEST(test_example)
{
	const struct example *e = &examples[_i];
	struct filter *filter = filter_of(e->text);
	char *matches = matches_of(filter);

	ck_assert_msg(!strcmp(matches, e->matches), "%s: %s, expected %s",
		      e->text, matches, e->matches);
	free(matches);
	filter_free(filter);
}
END_TEST

static bool wants(const char *text, const char *symbol)
{
	struct filter *filter = filter_of(text);
	bool wanted = filter_matches(filter, symbol, &program);

	filter_free(filter);
	return wanted;
}

START_TEST(test_special_characters)
{
	ck_assert(wants("a\\+b", "a+b"));
	ck_assert(wants("a\\-b", "a-b"));
	ck_assert(wants("a\\*", "a*"));
	ck_assert(!wants("a\\*", "ab"));
	ck_assert(wants("a\\**", "a*b"));
	ck_assert(!wants("a\\**", "ab"));
	ck_assert(wants("a\\@b", "a@b"));
	ck_assert(wants("a[+-]b", "a-b"));
	ck_assert(wants("a[]+]b", "a]b"));
	ck_assert(wants("a[!]+]b", "a-b"));
	ck_assert(wants("a[\\]+]b", "a]b"));
	ck_assert(wants("/a[+/]b/", "a/b"));
	ck_assert(wants("/a\\/b/", "a/b"));
	ck_assert(wants("/a\\@b/", "a@b"));
	ck_assert(wants("/a[@]b/", "a@b"));
	ck_assert(wants("/a+b/", "a+b"));
	ck_assert(wants("/a\\(bc\\)*/", "abcbc"));
	ck_assert(wants("/*a/", "*a"));
	ck_assert(wants("\\!a", "!a"));
	ck_assert(wants("\\^a\\$", "^a$"));
	ck_assert(wants("github.com/a.F", "github.com/a.F"));
	ck_assert(wants("_ZN3foo3barEi", "_ZN3foo3barEi"));
}
END_TEST

struct mistake {
	const char *text;
	size_t column;
	const char *message;
};

static const struct mistake mistakes[] = {
	{ "", 1, "missing" },
	{ "-", 2, "missing" },
	{ "!", 2, "missing" },
	{ "+", 2, "missing" },
	{ "f1+", 4, "missing" },
	{ "f1+-f2", 4, "missing" },
	{ "f1@libstdc++.so", 12, "missing" },
	{ "foo[", 4, "no ']'" },
	{ "foo+b[ar", 6, "no ']'" },
	{ "foo[[:alpha:]", 4, "no ']'" },
	{ "foo@li[b", 7, "no ']'" },
	{ "foo\\", 4, "nothing follows" },
	{ "foo+bar\\", 8, "nothing follows" },
	{ "^", 1, "empty pattern" },
	{ "f+^$", 3, "empty pattern" },
	{ "/f1", 1, "no '/'" },
	{ "f2+/f1", 4, "no '/'" },
	{ "/f1\\/", 1, "no '/'" },
	{ "//", 2, "empty regular" },
	{ "f1@//", 5, "empty regular" },
	{ "/f1/x", 5, "expected behind" },
	{ "/f[1/", 3, "no ']'" },
	{ "f2-/f[1/", 6, "no ']'" },
	{ "/f1@l[b/", 6, "no ']'" },
	{ "/\\(f1/", 2, "" },
	{ "f+/f1\\)/", 4, "" },
	{ "/a\\)\\(b/", 2, "" },
	{ "f@/a\\{2/", 4, "" },
	{ "/a\\{2,1\\}/", 2, "" },
	{ "/\\(a\\)\\1/", 7, "back-reference" },
	{ "/a\\{1001\\}/", 3, "repetitions" },
	{ "/\\(a\\{50\\}\\)\\{50\\}/", 13, "repetitions" },
	{ "/\\(a\\{50\\}\\)\\{1,50\\}/", 13, "repetitions" },
	{ "/a\\{99999999999999999999\\}/", 3, "repetitions" },
	{ "f1,f2", 3, "'+'" },
	{ "f1+!f2", 4, "'!'" },
	{ "f1@a@b", 5, "second '@'" },
	{ "f1@@V_2", 4, "second '@'" },
	{ "/a@b/@c", 6, "library part already" },
};

START_TEST(test_mistake)
{
	const struct mistake *m = &mistakes[_i];
	struct filter *filter = filter_new();
	char *message = NULL;
	size_t column = 0;

	ck_assert_msg(filter_add(filter, m->text, &message, &column) == -EINVAL,
		      "%s was accepted", m->text);
	ck_assert_msg(column == m->column, "%s: column %zu (%s)", m->text,
		      column, message);
	ck_assert_msg(strstr(message, m->message), "%s: %s", m->text, message);
	ck_assert_str_ne(message, "");
	ck_assert(filter_is_empty(filter));
	free(message);
	filter_free(filter);
}
END_TEST

START_TEST(test_library_pattern)
{
	static const struct {
		const char *pattern;
		bool main, t, b;
	} cases[] = {
		{ "libt.so", false, true, false },
		{ "lib*", false, true, false },
		{ "/b_.*/", false, false, true },
		{ "/opt/lib-b/b_two.so", false, false, true },
		{ "/opt/*", false, true, true },
		{ "MAIN", true, false, false },
		{ "*", true, true, true },
		{ "^libt.so$", false, true, false },
		{ "ld-linux.so", false, false, false },
		{ "libstdc++.so", false, false, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct filter *filter = filter_new();
		char *message;
		size_t column;

		ck_assert(!filter_add_library(filter, cases[i].pattern,
					      &message, &column));
		ck_assert(filter_matches(filter, "f1", &program) ==
			  cases[i].main);
		ck_assert(filter_matches(filter, "f1", &libt) == cases[i].t);
		ck_assert(filter_may_match_library(filter, &libb) ==
			  cases[i].b);
		ck_assert_str_eq(filter_text(filter, 0), cases[i].pattern);
		ck_assert_ptr_null(filter_plain_name(filter, 0));
		filter_free(filter);
	}
}
END_TEST

START_TEST(test_library_pattern_signs)
{
	const struct filter_library cxx = { .soname = "libstdc++.so.6" };
	struct filter *filter = filter_new();
	char *message;
	size_t column;

	ck_assert(!filter_add_library(filter, "libstdc++.so.6", &message,
				      &column));
	ck_assert(filter_matches(filter, "f1", &cxx));
	filter_free(filter);
}
END_TEST

START_TEST(test_library_mistakes)
{
	static const struct mistake cases[] = {
		{ "", 1, "missing" },         { "lib[", 4, "no ']'" },
		{ "//", 2, "empty regular" }, { "/a[b/", 3, "no ']'" },
		{ "/\\(b/", 2, "" },          { "lib\\", 4, "nothing follows" },
	};
	struct filter *filter = filter_new();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *message;
		size_t column;

		ck_assert(filter_add_library(filter, cases[i].text, &message,
					     &column) == -EINVAL);
		ck_assert_uint_eq(column, cases[i].column);
		ck_assert(strstr(message, cases[i].message));
		free(message);
	}
	ck_assert(filter_is_empty(filter));
	filter_free(filter);
}
END_TEST

static bool wants_system(const char *text, const char *name)
{
	const struct filter_library kernel = { .is_system = true };
	struct filter *filter = filter_of(text);
	bool wanted = filter_matches(filter, name, &kernel);

	ck_assert(!wanted || filter_has_system(filter));
	ck_assert(!filter_matches(filter, "nobody", &libt));
	filter_free(filter);
	return wanted;
}

START_TEST(test_system_calls)
{
	ck_assert(wants_system("read@SYS", "read"));
	ck_assert(!wants_system("read@SYS", "readv"));
	ck_assert(wants_system("@SYS", "readv"));
	ck_assert(wants_system("@SYS-read@SYS", "readv"));
	ck_assert(!wants_system("@SYS-read@SYS", "read"));
	ck_assert(wants_system("malloc+/.*read/@SYS", "pread"));
	/* Nobody who speaks of functions means them. */
	ck_assert(!wants_system("read", "read"));
	ck_assert(!wants_system("read@libc*", "read"));
	ck_assert(!wants("read@SYS", "read"));
}
END_TEST

START_TEST(test_all_but_leaves_system_calls_alone)
{
	const struct filter_library kernel = { .is_system = true };
	struct filter *filter = filter_of("-malloc");

	ck_assert(filter_matches(filter, "read", &libt));
	ck_assert(!filter_matches(filter, "read", &kernel));
	filter_free(filter);
}
END_TEST

/* Symbols of g++, and of rustc (both of its manglings). */
START_TEST(test_source_names)
{
	static const char mk[] = "_ZN4shop2mkElNS_4KindE";
	static const char less[] = "_ZNK4shop4ItemltERKS0_";
	static const char twice[] = "_ZN4shop5twiceIiEET_S1_";
	static const char push[] = "_ZNSt6vectorIiSaIiEE9push_backEOi";
	static const char append[] = "_ZNSs6appendERKSs";
	static const char pad[] =
		"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE";
	static const char hidden[] = "_ZN12_GLOBAL__N_11fEv";
	struct filter *filter = filter_of("shop::mk");

	/* Nobody must look for a symbol of that name. */
	ck_assert_ptr_null(filter_plain_name(filter, 0));
	filter_free(filter);
	ck_assert(wants("shop::mk", mk));
	ck_assert(!wants("shop::mk", "mk"));
	ck_assert(!wants("shop::m", mk));
	ck_assert(wants("sh?p::[lm]k", mk));
	ck_assert(wants("*::mk", mk));
	ck_assert(wants("/sh.*::mk/", mk));
	ck_assert(wants("shop::mk(long*", mk));
	ck_assert(wants("shop::mk(long\\, shop::Kind)", mk));
	ck_assert(!wants("shop::mk(int*", mk));
	ck_assert(!wants("shop::*-shop::mk", mk));
	ck_assert(wants("shop::Item::operator<", less));
	ck_assert(wants("shop::twice<int>", twice));
	ck_assert(wants("std::vector<*>::push_back", push));
	ck_assert(wants("std::*::app*", append));
	ck_assert(wants("std::string::append", append));
	ck_assert(wants("core::fmt::Formatter::*", pad));
	ck_assert(wants("mycrate::foo::bar", "_RNvNtCs1234_7mycrate3foo3bar"));
	ck_assert(wants("(anonymous namespace)::f", hidden));
	ck_assert(wants("::add", "_Z3addii"));
	ck_assert(!wants("::add", "add"));
	ck_assert(!wants("::", mk));
	ck_assert(wants("_ZN4shop*", mk));
}
END_TEST

START_TEST(test_may_match_library)
{
	static const struct {
		const char *text;
		bool main, t, b;
	} cases[] = {
		{ "f1", true, true, true },
		{ "f1@libt.so", false, true, false },
		{ "f1@MAIN+f2@b*", true, false, true },
		{ "-f1", true, true, true },
		{ "-@libt.so", true, false, true },
		{ "-@libt.so+f1", true, true, true },
		{ "f1-@libt.so", true, false, true },
		{ "f1-f2@libt.so", true, true, true },
		{ "*-@*", false, false, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct filter *filter = filter_of(cases[i].text);

		ck_assert_msg(filter_may_match_library(filter, &program) ==
				      cases[i].main,
			      "%s", cases[i].text);
		ck_assert_msg(filter_may_match_library(filter, &libt) ==
				      cases[i].t,
			      "%s", cases[i].text);
		ck_assert_msg(filter_may_match_library(filter, &libb) ==
				      cases[i].b,
			      "%s", cases[i].text);
		filter_free(filter);
	}
}
END_TEST

static void check_written(const char *pattern, const char *wanted)
{
	struct filter *one = filter_of(pattern);
	char *name = filter_written_name(one, 0);

	ck_assert_pstr_eq(name, wanted);
	free(name);
	filter_free(one);
}

START_TEST(name_to_suggest_for)
{
	check_written("f1", "f1");
	check_written("f1*", NULL);
	check_written("operator nwe", "operator nwe");
	check_written("operator nwe*", "operator nwe");
	check_written("operator n?e*", NULL);
	check_written("operator *e*", NULL);
	check_written("-operator nwe", NULL);
	check_written("/operator nwe/", NULL);
}
END_TEST

START_TEST(test_texts)
{
	struct filter *filter = filter_of("+f1+f*@libt.so");
	char *message;
	size_t column;

	ck_assert(!filter_add(filter, "-g1", &message, &column));
	ck_assert(!filter_add(filter, "a\\+b", &message, &column));
	ck_assert(!filter_add(filter, "/f1/", &message, &column));
	ck_assert(!filter_is_empty(filter));
	ck_assert_uint_eq(filter_count(filter), 5);
	ck_assert_str_eq(filter_text(filter, 0), "f1");
	ck_assert_str_eq(filter_text(filter, 1), "f*@libt.so");
	ck_assert_str_eq(filter_text(filter, 2), "-g1");
	ck_assert_str_eq(filter_plain_name(filter, 0), "f1");
	ck_assert_ptr_null(filter_plain_name(filter, 1));
	ck_assert_ptr_null(filter_plain_name(filter, 2));
	ck_assert_str_eq(filter_plain_name(filter, 3), "a+b");
	ck_assert_ptr_null(filter_plain_name(filter, 4));
	ck_assert(filter_matches_one(filter, 0, "f1", &libt));
	ck_assert(!filter_matches_one(filter, 0, "f2", &libt));
	ck_assert(filter_matches_one(filter, 1, "f2", &libt));
	ck_assert(filter_matches_one(filter, 2, "f2", &libb));
	ck_assert(!filter_matches_one(filter, 2, "g1", &libb));
	filter_free(filter);
}
END_TEST

START_TEST(test_empty_set)
{
	struct filter *filter = filter_new();

	ck_assert(filter_is_empty(filter));
	ck_assert_uint_eq(filter_count(filter), 0);
	ck_assert(!filter_matches(filter, "f1", &program));
	ck_assert(!filter_may_match_library(filter, &program));
	filter_free(filter);
	filter_free(NULL);
}
END_TEST

/* A path given through a symbolic link names the file behind it. */
START_TEST(test_linked_path)
{
	char folder[] = "filter-XXXXXX";
	CLEANUP(xfree_cleanup) char *folder_path = NULL;
	CLEANUP(xfree_cleanup) char *link = NULL;
	CLEANUP(xfree_cleanup) char *text = NULL;
	CLEANUP(xfree_cleanup) char *target = NULL;
	struct filter_library library = { 0 };
	struct filter *filter;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	folder_path = realpath(folder, NULL);
	link = xasprintf("%s/libl.so", folder_path);
	target = realpath("/bin/sh", NULL);
	ck_assert(!symlink("/bin/sh", link));
	text = xasprintf("f1@%s/./libl.so", folder_path);
	filter = filter_of(text);
	library.path = target;
	ck_assert(filter_matches(filter, "f1", &library));
	library.path = "/bin/other";
	ck_assert(!filter_matches(filter, "f1", &library));
	filter_free(filter);
	unlink(link);
	rmdir(folder);
}
END_TEST

START_TEST(test_long_names)
{
	char name[6000];

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ck_assert(wants("*", name));
	ck_assert(!wants("a*", name));
	ck_assert(!wants("/a*/", name));
	ck_assert(wants("a*", name + sizeof(name) - 4097));
	ck_assert(wants("/a*/", name + sizeof(name) - 4097));
}
END_TEST

START_TEST(test_long_pattern)
{
	struct filter *filter = filter_new();
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	char *message;
	size_t column;

	strbuf_puts(&text, "f1+");
	for (int i = 0; i < 5000; i++)
		strbuf_putc(&text, 'a');
	ck_assert(filter_add(filter, text.text, &message, &column) == -EINVAL);
	ck_assert_uint_eq(column, 4);
	free(message);
	filter_free(filter);
}
END_TEST

static void name_symbol(char name[64], int number)
{
	snprintf(name, 64, "_ZN4some6symbolEi%d", number);
}

/* What a search for the same by the C library takes of the processor. */
static clock_t time_of_regex(const char *text)
{
	clock_t start = clock();
	regex_t regex;

	ck_assert(!regcomp(&regex, text, REG_EXTENDED | REG_NOSUB));
	for (int i = 0; i < 100000; i++) {
		char name[64];

		name_symbol(name, i);
		ck_assert(regexec(&regex, name, 0, NULL, 0));
	}
	regfree(&regex);
	return clock() - start;
}

/* Names that make matchers go back again and again. */
START_TEST(test_no_blow_up)
{
	const clock_t one = time_of_regex("re.*c");
	const clock_t start = clock();
	char name[4097];

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ck_assert(!wants("a*a*a*a*a*a*a*a*a*a*a*a*b", name));
	ck_assert(!wants("*?*?*?*?*?*?*?*?*?*?*?*?b", name));
	ck_assert(!wants("/\\(a*\\)*\\(a*\\)*\\(a*\\)*b/", name));
	ck_assert(!wants("/a*a*a*a*a*a*a*a*a*a*a*a*b/", name));
	ck_assert_int_lt(clock() - start, 4 * one);
}
END_TEST

/* As many symbols as a very large library has, a few rules. */
START_TEST(test_speed)
{
	struct filter *filter = filter_of("malloc+free+*alloc@libt.so+"
					  "/re.*c/-realloc+f@MAIN");
	const clock_t least = time_of_regex("re.*c");
	const clock_t start = clock();
	unsigned wanted = 0;

	for (int i = 0; i < 100000; i++) {
		char name[64];

		name_symbol(name, i);
		wanted += filter_matches(filter, name, &libt);
	}
	ck_assert_uint_eq(wanted, 0);
	ck_assert_int_lt(clock() - start, 4 * least);
	filter_free(filter);
}
END_TEST

static Suite *filter_suite(void)
{
	Suite *suite = suite_create("filter");
	TCase *tests = tcase_create("filter");

	tcase_add_loop_test(tests, test_example, 0, ARRAY_SIZE(examples));
	tcase_add_test(tests, test_special_characters);
	tcase_add_loop_test(tests, test_mistake, 0, ARRAY_SIZE(mistakes));
	tcase_add_test(tests, test_library_pattern);
	tcase_add_test(tests, test_library_pattern_signs);
	tcase_add_test(tests, test_library_mistakes);
	tcase_add_test(tests, test_system_calls);
	tcase_add_test(tests, test_all_but_leaves_system_calls_alone);
	tcase_add_test(tests, test_source_names);
	tcase_add_test(tests, test_may_match_library);
	tcase_add_test(tests, test_texts);
	tcase_add_test(tests, test_empty_set);
	tcase_add_test(tests, test_linked_path);
	tcase_add_test(tests, test_long_names);
	tcase_add_test(tests, test_long_pattern);
	tcase_add_test(tests, test_no_blow_up);
	tcase_add_test(tests, name_to_suggest_for);
	tcase_add_test(tests, test_speed);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return unit_run(filter_suite());
}
