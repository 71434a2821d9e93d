/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "filter/filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "filter/filter_rule.h"

struct filter {
	struct filter_chain *chains;
	size_t count, room;
};

struct filter *filter_new(void)
{
	return xcalloc(1, sizeof(struct filter));
}

void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	for (size_t i = 0; i < filter->count; i++)
		filter_chain_fini(&filter->chains[i]);
	free(filter->chains);
	free(filter);
}

static void add_chain(struct filter *filter, struct filter_chain chain)
{
	filter->chains = xgrow(filter->chains, filter->count, &filter->room,
			       sizeof(*filter->chains));
	filter->chains[filter->count++] = chain;
}

static bool only_adds(const struct filter_chain *chain)
{
	if (chain->all_but)
		return false;
	for (size_t i = 0; i < chain->count; i++)
		if (!chain->rules[i].add)
			return false;
	return true;
}

/*
 * "f1+f2" is "f1" or "f2": as two texts each can be told to have matched
 * nothing. The rules move into chains of their own.
 */
static void add_each(struct filter *filter, struct filter_chain *chain)
{
	for (size_t i = 0; i < chain->count; i++) {
		struct filter_rule *rule = xmalloc(sizeof(*rule));
		char *text =
			xstrndup(chain->rules[i].text, chain->rules[i].length);

		*rule = chain->rules[i];
		rule->text = text;
		add_chain(filter, (struct filter_chain){
					  .text = text,
					  .rules = rule,
					  .count = 1,
					  .room = 1,
				  });
	}
	chain->count = 0;
	filter_chain_fini(chain);
}

static int refuse(const struct pattern_error *error, char **message_ret,
		  size_t *column_ret, int err)
{
	*message_ret = error->message;
	*column_ret = error->offset + 1;
	return err;
}

int filter_add(struct filter *filter, const char *text, char **message_ret,
	       size_t *column_ret)
{
	struct pattern_error error;
	struct filter_chain chain;
	int err = filter_chain_parse(&chain, text, &error);

	if (err)
		return refuse(&error, message_ret, column_ret, err);
	if (only_adds(&chain))
		add_each(filter, &chain);
	else
		add_chain(filter, chain);
	return 0;
}

int filter_add_library(struct filter *filter, const char *pattern,
		       char **message_ret, size_t *column_ret)
{
	struct pattern_error error;
	struct filter_chain chain;
	int err = filter_chain_parse_library(&chain, pattern, &error);

	if (err)
		return refuse(&error, message_ret, column_ret, err);
	add_chain(filter, chain);
	return 0;
}

bool filter_is_empty(const struct filter *filter)
{
	return !filter->count;
}

static bool path_matches(const struct library_pattern *pattern,
			 const char *path)
{
	return pattern_matches(&pattern->pattern, path) ||
	       (pattern->canonical && !strcmp(pattern->canonical, path));
}

static bool library_matches(const struct library_pattern *pattern,
			    const struct filter_library *library)
{
	if (pattern->is_system || library->is_system)
		return pattern->is_system && library->is_system;
	if (pattern->pattern.kind == PATTERN_ANY)
		return true;
	if (pattern->is_main)
		return library->is_main;
	if (pattern->on_path)
		return library->path && path_matches(pattern, library->path);
	if (library->soname &&
	    pattern_matches(&pattern->pattern, library->soname))
		return true;
	return library->path && pattern_matches(&pattern->pattern,
						file_base_name(library->path));
}

static bool symbol_matches(const struct filter_rule *rule, const char *symbol)
{
	if (rule->source.is_one)
		return source_name_matches(&rule->source, &rule->symbol,
					   symbol);
	return pattern_matches(&rule->symbol, symbol);
}

static bool chain_matches(const struct filter_chain *chain, const char *symbol,
			  const struct filter_library *library)
{
	/* The last rule that matches decides. */
	for (size_t i = chain->count; i-- > 0;) {
		const struct filter_rule *rule = &chain->rules[i];

		if (library_matches(&rule->library, library) &&
		    symbol_matches(rule, symbol))
			return rule->add;
	}
	return chain->all_but && !library->is_system;
}

static bool chain_may_match(const struct filter_chain *chain,
			    const struct filter_library *library)
{
	for (size_t i = chain->count; i-- > 0;) {
		const struct filter_rule *rule = &chain->rules[i];

		if (!rule->add && rule->symbol.kind != PATTERN_ANY)
			continue;
		if (library_matches(&rule->library, library))
			return rule->add;
	}
	return chain->all_but;
}

bool filter_matches(const struct filter *filter, const char *symbol,
		    const struct filter_library *library)
{
	for (size_t i = 0; i < filter->count; i++)
		if (chain_matches(&filter->chains[i], symbol, library))
			return true;
	return false;
}

bool filter_may_match_library(const struct filter *filter,
			      const struct filter_library *library)
{
	for (size_t i = 0; i < filter->count; i++)
		if (chain_may_match(&filter->chains[i], library))
			return true;
	return false;
}

bool filter_is_for_system(const struct filter *filter, size_t i)
{
	const struct filter_chain *chain = &filter->chains[i];

	for (size_t j = 0; j < chain->count; j++)
		if (chain->rules[j].add && chain->rules[j].library.is_system)
			return true;
	return false;
}

bool filter_has_system(const struct filter *filter)
{
	for (size_t i = 0; i < filter->count; i++)
		if (filter_is_for_system(filter, i))
			return true;
	return false;
}

size_t filter_count(const struct filter *filter)
{
	return filter->count;
}

const char *filter_text(const struct filter *filter, size_t i)
{
	return filter->chains[i].text;
}

const char *filter_plain_name(const struct filter *filter, size_t i)
{
	const struct filter_chain *chain = &filter->chains[i];

	if (chain->count != 1 || !chain->rules[0].add ||
	    chain->rules[0].source.is_one ||
	    chain->rules[0].symbol.kind != PATTERN_PLAIN)
		return NULL;
	return chain->rules[0].symbol.text;
}

char *filter_written_name(const struct filter *filter, size_t i)
{
	const struct filter_chain *chain = &filter->chains[i];
	const char *plain = filter_plain_name(filter, i), *text;
	size_t length;

	if (plain)
		return xstrdup(plain);
	if (chain->count != 1 || !chain->rules[0].add ||
	    !chain->rules[0].source.is_one ||
	    chain->rules[0].symbol.kind == PATTERN_REGEX)
		return NULL;
	text = chain->rules[0].symbol.text;
	length = strcspn(text, "*?[\\");
	return !text[length] || !strcmp(text + length, "*") ?
		       xstrndup(text, length) :
		       NULL;
}

bool filter_matches_one(const struct filter *filter, size_t i,
			const char *symbol,
			const struct filter_library *library)
{
	return chain_matches(&filter->chains[i], symbol, library);
}
