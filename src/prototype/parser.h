/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PARSER_H
#define CALLTRAP_PARSER_H

#include <stdbool.h>

#include "prototype/definitions.h"
#include "prototype/lexer.h"
#include "prototype/type.h"

struct prototypes;

/*
 * Reads prototype files by recursive descent: items in parser.c, types in
 * parse_type.c, lengths in parse_expression.c. Each function begins at the
 * token it wants and leaves the one behind what it has read. Returns 0,
 * -EINVAL after the user was told what was expected, or -ENOTSUP for what
 * this version can't do.
 */
struct parser {
	struct lexer lexer;
	struct prototypes *prototypes; /* where imports come from */
	struct definitions *into;
	unsigned depth;    /* of the type that is being read */
	unsigned errors;
	unsigned left_out; /* prototypes that can't be used yet */
	struct token highest; /* the argN of the line that has the highest N */
};

/* Reads the text of a file; what is wrong in it is reported and left out. */
void parser_read(struct prototypes *prototypes, struct definitions *into,
		 const char *text, size_t size);

/* Reports what should stand where a token is; -EINVAL. */
int parser_expected(struct parser *parser, const struct token *at,
		    const char *what);

/* Goes behind a token of this kind, or says that it was expected. */
int parser_take(struct parser *parser, int kind, const char *what) MUST_CHECK;

int parse_type(struct parser *parser, const struct type **ret) MUST_CHECK;
int parse_expression(struct parser *parser, const struct expression **ret)
	MUST_CHECK;

/* The number N of a word like argN; false when it isn't one. */
bool parser_numbered(const struct token *token, const char *stem,
		     uint64_t *ret);

const struct expression *
parser_new_expression(struct parser *parser, enum expression_kind kind,
		      uint64_t number, const struct expression *limit);

/* The value of an argument from 1 on, or (0) of the result. */
const struct expression *parser_argument(struct parser *parser,
					 const struct token *at,
					 uint64_t number);

#endif
