/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "filter/pattern.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/xalloc.h"

/*
 * The C library expands \{m,n\} into copies: nested, a few bytes of text
 * become gigabytes of states.
 */
#define REPEATS_MAX 1000

static int fail(struct pattern_error *error, size_t offset, char *message)
{
	error->message = message;
	error->offset = offset;
	return -EINVAL;
}

static int check_length(size_t length, struct pattern_error *error)
{
	if (length <= PATTERN_MAX)
		return 0;
	return fail(error, 0,
		    xasprintf("pattern longer than %d bytes", PATTERN_MAX));
}

/* Behind "[:alpha:]" and the like, which may contain a "]". */
static const char *class_end(const char *s, const char *limit)
{
	for (const char *p = s + 2; p + 1 < limit; p++)
		if (p[0] == s[1] && p[1] == ']')
			return p + 2;
	return NULL;
}

const char *bracket_end(const char *s, const char *limit, bool is_glob)
{
	const char *p = s + 1;
	const char *class;

	if (p < limit && (*p == '^' || (is_glob && *p == '!')))
		p++;
	if (p < limit && *p == ']')
		p++;
	while (p < limit && *p != ']') {
		if (*p == '[' && p + 1 < limit && strchr(":.=", p[1]) &&
		    (class = class_end(p, limit)))
			p = class;
		else if (is_glob && *p == '\\' && p + 1 < limit)
			p += 2;
		else
			p++;
	}
	return p < limit ? p + 1 : NULL;
}

/* Matches everything; the same as a zeroed one. */
static void pattern_init_any(struct pattern *pattern)
{
	*pattern = (struct pattern){ .kind = PATTERN_ANY };
}

static int check_glob(const char *text, size_t length,
		      struct pattern_error *error)
{
	const char *limit = text + length;
	const char *s = text;

	while (s < limit) {
		const char *start = s;

		if (*s == '[') {
			s = bracket_end(s, limit, true);
			if (!s)
				return fail(error, start - text,
					    xstrdup("no ']' ends this '['"));
		} else if (*s == '\\' && s + 1 == limit) {
			return fail(error, start - text,
				    xstrdup("nothing follows this '\\'"));
		} else {
			s += *s == '\\' ? 2 : 1;
		}
	}
	return 0;
}

static bool ends_in_anchor(const char *text, size_t length)
{
	size_t backslashes = 0;

	if (!length || text[length - 1] != '$')
		return false;
	while (backslashes + 1 < length &&
	       text[length - 2 - backslashes] == '\\')
		backslashes++;
	return backslashes % 2 == 0;
}

static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from == '\\' && from[1])
			from++;
		*to++ = *from;
	}
	*to = '\0';
}

static void classify_glob(struct pattern *pattern)
{
	size_t literal = strcspn(pattern->text, "*?[\\");
	bool magic = false;

	for (const char *s = pattern->text; *s; s++) {
		if (*s == '\\' && s[1])
			s++;
		else if (strchr("*?[", *s))
			magic = true;
	}
	if (!magic) {
		pattern->kind = PATTERN_PLAIN;
		unescape(pattern->text);
	} else if (strspn(pattern->text, "*") == strlen(pattern->text)) {
		pattern->kind = PATTERN_ANY;
	} else {
		pattern->kind = PATTERN_GLOB;
		pattern->prefix = literal;
	}
}

int pattern_init_glob(struct pattern *pattern, const char *text, size_t length,
		      struct pattern_error *error)
{
	size_t start = length && text[0] == '^';
	int err = check_length(length, error);

	if (!err)
		err = check_glob(text, length, error);
	if (err)
		return err;
	if (ends_in_anchor(text + start, length - start))
		length--;
	if (start >= length)
		return fail(error, 0, xstrdup("empty pattern"));
	*pattern = (struct pattern){
		.text = xstrndup(text + start, length - start),
	};
	classify_glob(pattern);
	return 0;
}

/* The larger bound of the \{m,n\} whose inside begins at s; 1 if none. */
static unsigned long interval_bound(const char *s)
{
	unsigned long low, high;
	char *end;

	low = strtoul(s, &end, 10);
	high = *end == ',' ? strtoul(end + 1, NULL, 10) : 0;
	if (high > low)
		low = high;
	return low ? low : 1;
}

/* What the C library's expressions allow and a filter does without. */
static int check_regex(const char *text, struct pattern_error *error)
{
	const char *limit = text + strlen(text);
	unsigned long repeats = 1;

	for (const char *s = text, *next; s < limit; s = next) {
		next = s + 1;
		if (*s == '[')
			next = bracket_end(s, limit, false);
		else if (*s == '\\' && next < limit)
			next++;
		if (!next)
			return fail(error, s - text,
				    xstrdup("no ']' ends this '['"));
		if (*s != '\\' || next == s + 1)
			continue;
		if (s[1] >= '1' && s[1] <= '9')
			return fail(error, s - text,
				    xstrdup("back-references are not known "
					    "here"));
		if (s[1] == '{') {
			unsigned long bound = interval_bound(next);

			if (bound > REPEATS_MAX ||
			    (repeats *= bound) > REPEATS_MAX)
				return fail(error, s - text,
					    xasprintf("more than %d "
						      "repetitions",
						      REPEATS_MAX));
		}
	}
	return 0;
}

static int compile(regex_t *regex, const char *text,
		   struct pattern_error *error)
{
	char message[256];
	int err = regcomp(regex, text, REG_NOSUB);

	if (!err)
		return 0;
	regerror(err, regex, message, sizeof(message));
	return fail(error, 0, xstrdup(message));
}

int pattern_init_regex(struct pattern *pattern, const char *text, size_t length,
		       struct pattern_error *error)
{
	CLEANUP(xfree_cleanup) char *bare = xstrndup(text, length);
	CLEANUP(strbuf_fini) struct strbuf whole = { 0 };
	regex_t regex;
	int err;

	if (!length)
		return fail(error, 0, xstrdup("empty regular expression"));
	err = check_length(length, error);
	if (!err)
		err = check_regex(bare, error);
	/* Alone first: "a\)\(b" must not become valid inside the group. */
	if (!err)
		err = compile(&regex, bare, error);
	if (err)
		return err;
	regfree(&regex);
	strbuf_printf(&whole, "^\\(%s\\)$", bare);
	err = compile(&regex, strbuf_text(&whole), error);
	if (err)
		return err;
	*pattern = (struct pattern){
		.kind = PATTERN_REGEX,
		.text = xstrdup(bare),
		.regex = regex,
	};
	return 0;
}

void pattern_fini(struct pattern *pattern)
{
	if (pattern->kind == PATTERN_REGEX)
		regfree(&pattern->regex);
	free(pattern->text);
	pattern_init_any(pattern);
}

bool pattern_matches(const struct pattern *pattern, const char *name)
{
	if (pattern->kind == PATTERN_ANY)
		return true;
	if (pattern->kind == PATTERN_PLAIN)
		return !strcmp(name, pattern->text);
	if (pattern->kind == PATTERN_GLOB &&
	    strncmp(name, pattern->text, pattern->prefix) != 0)
		return false;
	if (strnlen(name, PATTERN_MAX + 1) > PATTERN_MAX)
		return false;
	if (pattern->kind == PATTERN_GLOB)
		return !fnmatch(pattern->text, name, 0);
	return !regexec(&pattern->regex, name, 0, NULL, 0);
}
