/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FAMILY_PARSE_H
#define CALLTRAP_FAMILY_PARSE_H

#include "base/lexer.h"
#include "heap/families.h"

/* The state of reading a family file, and what its two parts share. */

#define FAMILY_PREFIXES_MAX 32

struct family_parser {
	struct families *families;
	struct lexer lexer;
	struct family_draft *draft; /* whose functions follow */
	bool lost;                  /* a line of families was broken */
	const char *form;
	struct token prefixes[FAMILY_PREFIXES_MAX];
	unsigned prefix_count;
};

/* Reports "NAME: WHY"; -EINVAL. */
int family_refused(struct family_parser *parser, const struct token *name,
		   const char *why);

int family_take_name(struct family_parser *parser, const char *what,
		     struct token *ret) MUST_CHECK;
int family_take_number(struct family_parser *parser, const char *what,
		       uint64_t *ret) MUST_CHECK;
int family_take_end(struct family_parser *parser,
		    const char *or_else) MUST_CHECK;

/* ACT NAME(PARAMETER, ...) = RESULT, size NUMBER */
int family_parse_function(struct family_parser *parser) MUST_CHECK;

#endif
