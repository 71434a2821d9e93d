/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PATTERN_H
#define CALLTRAP_PATTERN_H

#include <regex.h>
#include <stdbool.h>

#include "base/types.h"

/*
 * One pattern of a filter, held against whole names.
 *
 * Matching takes time in proportion to the lengths of name and pattern:
 * regular expressions have no back-references and globs go back to their last
 * "*" at most. Patterns are limited to PATTERN_MAX bytes; a name longer than
 * that is matched by plain names and by what matches everything, and by
 * nothing else. The C library keeps every state that a regular expression has
 * been in: one such as ".*a.\{100\}" takes much memory.
 */
#define PATTERN_MAX 4096

enum pattern_kind {
	PATTERN_ANY,   /* matches everything */
	PATTERN_PLAIN, /* text is the name itself */
	PATTERN_GLOB,
	PATTERN_REGEX,
};

struct pattern {
	enum pattern_kind kind;
	char *text;
	size_t prefix; /* bytes at the start of a glob that stand for
			    themselves */
	regex_t regex;
};

/* What is wrong with a pattern, and where: an offset into its text. */
struct pattern_error {
	char *message; /* to be freed */
	size_t offset;
};

/*
 * A glob: "*", "?", "[...]", "\" before a character that is meant literally.
 * A "^" in front and a "$" at the end may be given and change nothing.
 */
int pattern_init_glob(struct pattern *pattern, const char *text, size_t length,
		      struct pattern_error *error) MUST_CHECK;

/* A POSIX basic regular expression; "^" and "$" as above. */
int pattern_init_regex(struct pattern *pattern, const char *text, size_t length,
		       struct pattern_error *error) MUST_CHECK;

void pattern_fini(struct pattern *pattern);
bool pattern_matches(const struct pattern *pattern, const char *name);

/*
 * The end of the bracket expression that begins at s, or NULL when it has
 * none before limit. In globs "\" takes the next character's meaning away.
 */
const char *bracket_end(const char *s, const char *limit, bool is_glob);

#endif
