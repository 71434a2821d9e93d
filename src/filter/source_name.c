/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "filter/source_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cxx_name.h"
#include "base/xalloc.h"

/* Symbols have abbreviations for these (Itanium C++ ABI 5.1.10). */
static const char *const abbreviated[] = {
	"allocator",    "basic_iostream", "basic_istream", "basic_ostream",
	"basic_string", "operator",       "std",
};

static bool may_be_abbreviated(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(abbreviated); i++)
		if (strstr(abbreviated[i], word))
			return true;
	return false;
}

static size_t word_length(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

/*
 * Identifiers stand in symbols as they are. The longest one is looked for
 * before a symbol is demangled, which would take seconds for large libraries.
 * Behind a "<" or a blank there may be types, which have other names there.
 */
static char *longest_word(const struct pattern *pattern)
{
	const char *s = pattern->text, *limit = s + strlen(s);
	char *longest = xstrdup("");

	while (s < limit && !strchr("<({ ", *s)) {
		size_t n = word_length(s);
		char *word = xstrndup(s, n);

		if (n > strlen(longest) && !may_be_abbreviated(word)) {
			free(longest);
			longest = xstrdup(word);
		}
		free(word);
		if (!n && *s == '[' && bracket_end(s, limit, true))
			s = bracket_end(s, limit, true);
		else if (!n && *s == '\\' && s + 1 < limit)
			s += 2;
		else
			s += n ? n : 1;
	}
	return longest;
}

/* A "(" that is no part of the name itself. */
static bool has_parameters(const char *text)
{
	static const char nameless[] = "(anonymous namespace)";

	while ((text = strchr(text, '('))) {
		if (strncmp(text, nameless, sizeof(nameless) - 1) != 0)
			return true;
		text += sizeof(nameless) - 1;
	}
	return false;
}

static void drop_global_scope(struct pattern *pattern)
{
	if (strncmp(pattern->text, "::", 2) != 0)
		return;
	memmove(pattern->text, pattern->text + 2, strlen(pattern->text) - 1);
	pattern->prefix -= pattern->prefix < 2 ? pattern->prefix : 2;
}

/* Symbols have no blanks: that is "operator new", or a type's parameters. */
static bool is_of_source(const char *text)
{
	return strstr(text, "::") || strchr(text, ' ');
}

void source_name_init(struct source_name *source, struct pattern *pattern)
{
	*source = (struct source_name){ 0 };
	if (pattern->kind == PATTERN_ANY || !is_of_source(pattern->text))
		return;
	source->is_one = true;
	source->with_parameters = has_parameters(pattern->text);
	source->demangler = xcalloc(1, sizeof(*source->demangler));
	if (pattern->kind == PATTERN_REGEX)
		return;
	drop_global_scope(pattern);
	source->word = longest_word(pattern);
}

void source_name_fini(struct source_name *source)
{
	free(source->word);
	free(source->demangler);
	*source = (struct source_name){ 0 };
}

bool source_name_matches(const struct source_name *source,
			 const struct pattern *pattern, const char *symbol)
{
	char *name CLEANUP(xfree_cleanup) = NULL;

	if (source->word && !strstr(symbol, source->word))
		return false;
	name = demangle_exactly(source->demangler, symbol,
				source->with_parameters);
	if (!name || pattern_matches(pattern, name))
		return name;
	/* As the log shows it. */
	cxx_name_shorten(name);
	return pattern_matches(pattern, name);
}
