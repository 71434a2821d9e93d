/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/cxx_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/types.h"

/* A longer one nobody reads; the work is bounded. */
#define LENGTH_MAX 8192

/* Templates within templates: each level takes a pass. */
#define PASSES_MAX 8

static size_t skip_word(const char *s, const char *word)
{
	size_t n = strlen(word);

	return strncmp(s, word, n) == 0 ? n : 0;
}

static void cut(char *from, const char *to)
{
	memmove(from, to, strlen(to) + 1);
}

/* ---- namespaces ---- */

static void drop_inline_namespaces(char *name)
{
	static const char *const hidden[] = { "std::__cxx11::", "std::__1::" };

	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++) {
		char *s = name;

		while ((s = strstr(s, hidden[i]))) {
			s += strlen("std::");
			cut(s, s + strlen(hidden[i]) - strlen("std::"));
		}
	}
}

/* ---- default arguments ---- */

/* Past the bracket that closes what was opened before s; NULL: none does. */
static char *past_bracket(char *s)
{
	unsigned depth = 1;

	for (; *s; s++) {
		depth += *s == '<';
		depth -= *s == '>';
		if (!depth)
			return s + 1;
	}
	return NULL;
}

/* Behind the bracket that the template argument before end stands in. */
static char *first_argument(char *name, char *end)
{
	unsigned depth = 1;

	while (end > name) {
		end--;
		depth += *end == '>';
		depth -= *end == '<';
		if (!depth)
			return end + 1;
	}
	return NULL;
}

/* Of argument, without the blank that older compilers want before a ">". */
static size_t argument_length(const char *argument)
{
	unsigned depth = 0;
	size_t n;

	for (n = 0; argument[n]; n++) {
		char c = argument[n];

		if (!depth && (c == ',' || c == '>'))
			break;
		depth += c == '<' || c == '(';
		depth -= depth && (c == '>' || c == ')');
	}
	while (n && argument[n - 1] == ' ')
		n--;
	return n;
}

/* The allocator of a map: of std::pair<KEY const, VALUE>. */
static bool is_pair_of(const char *type, const char *key, size_t length)
{
	size_t n = skip_word(type, "std::pair<");

	return n && strncmp(type + n, key, length) == 0 &&
	       skip_word(type + n + length, " const, ");
}

/* Whether what follows is std::NAME<FIRST>, of the template's first one. */
static bool is_default(const char *type, const char *first)
{
	size_t own = argument_length(type);
	size_t length = argument_length(first);

	return (own == length && strncmp(type, first, length) == 0) ||
	       is_pair_of(type, first, length);
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == ':';
}

/* Functions may be given any template argument; only types have defaults. */
static bool is_standard_type(const char *name, const char *bracket,
			     const char *behind)
{
	const char *start = bracket;

	while (start > name && is_name(start[-1]))
		start--;
	return skip_word(start, "std::") && *behind != '(';
}

/* The end of a last argument at s that goes without saying; else NULL. */
static char *redundant_end(char *name, char *s)
{
	static const char *const templates[] = {
		", std::allocator<", ", std::char_traits<",
		", std::less<",      ", std::hash<",
		", std::equal_to<",  ", std::default_delete<",
	};
	char *first = first_argument(name, s);
	char *end, *close;
	size_t n = 0;

	for (size_t i = 0; !n && i < ARRAY_SIZE(templates); i++)
		n = skip_word(s, templates[i]);
	if (!n || !first || first == s || !is_default(s + n, first))
		return NULL;
	end = past_bracket(s + n);
	if (!end)
		return NULL;
	close = end + (*end == ' ');
	if (*close != '>' || !is_standard_type(name, first - 1, close + 1))
		return NULL;
	/* The blank is for a ">" before it, which may be gone. */
	return s[-1] == '>' ? end : close;
}

static bool drop_defaults(char *name)
{
	bool dropped = false;
	char *s = name;

	while ((s = strstr(s + 1, ", std::"))) {
		char *end = redundant_end(name, s);

		if (!end)
			continue;
		cut(s, end);
		s--;
		dropped = true;
	}
	return dropped;
}

/* ---- std::string and its like ---- */

static void name_character_templates(char *name)
{
	static const char basic[] = "std::basic_";
	char *s = name;

	while ((s = strstr(s, basic))) {
		char *end = s + sizeof(basic) - 1;
		size_t n;

		s += strlen("std::");
		while (is_name(*end) && *end != ':')
			end++;
		if (!skip_word(end, "<char>"))
			continue;
		n = strlen("<char>");
		n += skip_word(end + n, " >") ? 1 : 0;
		cut(end, end + n);
		cut(s, s + strlen("basic_"));
	}
}

void cxx_name_shorten(char *name)
{
	if (strlen(name) > LENGTH_MAX || !strstr(name, "std::"))
		return;
	drop_inline_namespaces(name);
	for (unsigned i = 0; i < PASSES_MAX && drop_defaults(name); i++)
		;
	name_character_templates(name);
}
