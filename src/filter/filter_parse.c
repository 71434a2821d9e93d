/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "filter/filter_rule.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* The reader stands at s, in the text that ends at limit. */
struct filter_reader {
	const char *text;
	const char *limit;
	const char *s;
	struct pattern_error *error;
};

static int fail(struct filter_reader *r, const char *at, const char *message)
{
	r->error->message = xstrdup(message);
	r->error->offset = at - r->text;
	return -EINVAL;
}

/* Makes an offset in a pattern that begins at start one in the text. */
static int located(struct filter_reader *r, const char *start, int err)
{
	if (err)
		r->error->offset += start - r->text;
	return err;
}

static bool is_sign(char c)
{
	return c == '+' || c == '-';
}

static bool ends_pattern(char c)
{
	return !c || c == '@' || is_sign(c);
}

/*
 * The slash that ends the regular expression begun by the one at s, or NULL.
 * at_ret, if wanted, is the first "@" of its own standing in it, or NULL.
 */
static const char *regex_end(const char *s, const char *limit,
			     const char **at_ret)
{
	const char *at = NULL;
	const char *next;

	for (s++; s < limit && *s != '/'; s = next) {
		next = s + 1;
		if (*s == '[' && bracket_end(s, limit, false))
			next = bracket_end(s, limit, false);
		else if (*s == '\\' && next < limit)
			next++;
		else if (*s == '@' && !at)
			at = s;
	}
	if (at_ret)
		*at_ret = at;
	return s < limit ? s : NULL;
}

static bool is_whole_regex(const char *s, const char *limit)
{
	const char *end = *s == '/' ? regex_end(s, limit, NULL) : NULL;

	return end && ends_pattern(end[1]);
}

/*
 * Whether the sign at s is part of a path that goes on behind it, as in
 * /usr/lib/x86_64-linux-gnu/libc.so.6.
 */
static bool path_goes_on(const char *s, const char *limit)
{
	while (s < limit && *s != '@') {
		if (is_sign(*s) && is_whole_regex(s + 1, limit))
			s = regex_end(s + 1, limit, NULL) + 1;
		else if (*s++ == '/')
			return true;
	}
	return false;
}

/* Characters that other tools' filters have, and that no symbol has. */
static int check_symbol_character(struct filter_reader *r, bool is_first)
{
	if (*r->s == ',')
		return fail(r, r->s,
			    "names are joined with '+', not with "
			    "',' (a ',' in a name is written "
			    "'\\,')");
	if (*r->s == '!' && is_first)
		return fail(r, r->s,
			    "'!' can only begin a filter; later it "
			    "is '-'");
	return 0;
}

/* Behind one character, one escaped character or one [] of a glob. */
static int skip_element(struct filter_reader *r)
{
	const char *end = r->s + 1;

	if (*r->s == '[')
		end = bracket_end(r->s, r->limit, true);
	else if (*r->s == '\\' && end < r->limit)
		end++;
	if (!end)
		return fail(r, r->s, "no ']' ends this '['");
	r->s = end;
	return 0;
}

static int skip_symbol_glob(struct filter_reader *r)
{
	const char *start = r->s;
	int err = 0;

	while (!err && !ends_pattern(*r->s)) {
		err = check_symbol_character(r, r->s == start);
		if (!err)
			err = skip_element(r);
	}
	return err;
}

static int skip_library_glob(struct filter_reader *r)
{
	bool is_path = false;
	int err = 0;

	while (!err && r->s < r->limit && *r->s != '@') {
		if (is_sign(*r->s) &&
		    !(is_path && path_goes_on(r->s, r->limit)))
			break;
		if (*r->s == '/')
			is_path = true;
		err = skip_element(r);
	}
	return err;
}

/* A part that is missing stays as it was made: it matches everything. */
static int add_regex(struct filter_reader *r, struct pattern *pattern,
		     const char *start, const char *end)
{
	return located(r, start,
		       pattern_init_regex(pattern, start, end - start,
					  r->error));
}

static void look_at_path(struct library_pattern *library)
{
	struct pattern *pattern = &library->pattern;

	if (pattern->kind == PATTERN_ANY)
		return;
	/* As a regular expression too: "/f1@MAIN/". */
	library->is_main = !strcmp(pattern->text, "MAIN");
	library->is_system = !strcmp(pattern->text, "SYS");
	library->on_path = strchr(pattern->text, '/');
	if (library->on_path && pattern->kind == PATTERN_PLAIN)
		library->canonical = realpath(pattern->text, NULL);
}

static int add_library_regex(struct filter_reader *r,
			     struct library_pattern *library, const char *start,
			     const char *end)
{
	int err = add_regex(r, &library->pattern, start, end);

	if (!err)
		look_at_path(library);
	return err;
}

/* "/a/", or "/a@b/", which is "/a/@/b/". */
static int read_symbol_regex(struct filter_reader *r, struct filter_rule *rule)
{
	const char *start = r->s + 1;
	const char *at;
	const char *end = regex_end(r->s, r->limit, &at);
	int err = 0;

	if (!end)
		return fail(r, r->s,
			    "no '/' ends the regular expression "
			    "begun here");
	if (!ends_pattern(end[1]))
		return fail(r, end + 1,
			    "'+', '-' or '@' expected behind the "
			    "regular expression");
	r->s = end + 1;
	if (!at)
		return add_regex(r, &rule->symbol, start, end);
	if (*r->s == '@')
		return fail(r, r->s,
			    "the regular expression has a library "
			    "part already");
	if (at > start)
		err = add_regex(r, &rule->symbol, start, at);
	if (!err && at + 1 < end)
		err = add_library_regex(r, &rule->library, at + 1, end);
	return err;
}

static int read_symbol(struct filter_reader *r, struct filter_rule *rule)
{
	const char *start = r->s;
	int err;

	if (*start == '/')
		return read_symbol_regex(r, rule);
	err = skip_symbol_glob(r);
	if (err || r->s == start)
		return err;
	return located(r, start,
		       pattern_init_glob(&rule->symbol, start, r->s - start,
					 r->error));
}

static int read_library(struct filter_reader *r,
			struct library_pattern *library)
{
	const char *start = r->s;
	int err;

	if (is_whole_regex(start, r->limit)) {
		const char *end = regex_end(start, r->limit, NULL);

		r->s = end + 1;
		return add_library_regex(r, library, start + 1, end);
	}
	err = skip_library_glob(r);
	if (err || r->s == start)
		return err;
	err = located(r, start,
		      pattern_init_glob(&library->pattern, start, r->s - start,
					r->error));
	if (!err)
		look_at_path(library);
	return err;
}

static int read_rule(struct filter_reader *r, struct filter_rule *rule)
{
	const char *start = r->s;
	int err;

	if (start == r->limit || is_sign(*start))
		return fail(r, start,
			    "a name is missing here (a '+' or '-' "
			    "in a name is written '\\+' or '\\-')");
	err = read_symbol(r, rule);
	if (!err)
		source_name_init(&rule->source, &rule->symbol);
	if (!err && *r->s == '@') {
		r->s++;
		err = read_library(r, &rule->library);
	}
	if (!err && *r->s == '@')
		err = fail(r, r->s,
			   "a second '@' in a rule (versions are "
			   "not part of a name)");
	rule->text = start;
	rule->length = r->s - start;
	return err;
}

static struct filter_rule *new_rule(struct filter_chain *chain, bool add)
{
	struct filter_rule *rule;

	chain->rules = xgrow(chain->rules, chain->count, &chain->room,
			     sizeof(*chain->rules));
	rule = &chain->rules[chain->count++];
	*rule = (struct filter_rule){ .add = add };
	return rule;
}

static struct filter_reader start(struct filter_chain *chain, const char *text,
				  struct pattern_error *error)
{
	*chain = (struct filter_chain){ .text = xstrdup(text) };
	return (struct filter_reader){
		.text = chain->text,
		.limit = chain->text + strlen(chain->text),
		.s = chain->text,
		.error = error,
	};
}

int filter_chain_parse(struct filter_chain *chain, const char *text,
		       struct pattern_error *error)
{
	struct filter_reader r = start(chain, text, error);
	bool add = true;
	int err;

	chain->all_but = *r.s == '-' || *r.s == '!';
	if (chain->all_but || *r.s == '+') {
		add = !chain->all_but;
		r.s++;
	}
	for (;;) {
		err = read_rule(&r, new_rule(chain, add));
		if (err || r.s == r.limit)
			break;
		add = *r.s++ == '+';
	}
	if (err)
		filter_chain_fini(chain);
	return err;
}

int filter_chain_parse_library(struct filter_chain *chain, const char *text,
			       struct pattern_error *error)
{
	struct filter_reader r = start(chain, text, error);
	struct filter_rule *rule = new_rule(chain, true);
	const char *end = regex_end(r.s, r.limit, NULL);
	int err;

	rule->text = r.text;
	rule->length = r.limit - r.text;
	if (!rule->length) {
		err = fail(&r, r.s, "a library's name is missing");
	} else if (*r.s == '/' && end && end + 1 == r.limit) {
		err = add_library_regex(&r, &rule->library, r.s + 1, end);
	} else {
		err = pattern_init_glob(&rule->library.pattern, r.s,
					rule->length, error);
		if (!err)
			look_at_path(&rule->library);
	}
	if (err)
		filter_chain_fini(chain);
	return err;
}

static void rule_fini(struct filter_rule *rule)
{
	pattern_fini(&rule->symbol);
	source_name_fini(&rule->source);
	pattern_fini(&rule->library.pattern);
	free(rule->library.canonical);
}

void filter_chain_fini(struct filter_chain *chain)
{
	for (size_t i = 0; i < chain->count; i++)
		rule_fini(&chain->rules[i]);
	free(chain->rules);
	free(chain->text);
	*chain = (struct filter_chain){ 0 };
}
