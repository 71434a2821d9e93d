/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PARSER_H
#define CALLTRAP_PARSER_H

#include <stdbool.h>

#include "base/lexer.h"
#include "prototype/definitions.h"
#include "prototype/type.h"

struct prototypes;

/*
 * Reads prototype files by recursive descent: items in parser.c, functions in
 * parse_function.c, types in parse_type.c and those that it calls, lengths in
 * parse_expression.c, script items in script/parse.c. Each function begins at
 * the token it wants and leaves the one after what it has read. Returns 0, or
 * -EINVAL after the user was told what was expected.
 */
struct parser {
	struct lexer lexer;
	struct prototypes *prototypes; /* where imports come from */
	struct definitions *into;
	unsigned depth;       /* of the type that is being read */
	struct token highest; /* the argN of the item that has the highest N */
};

/* Reads the text of a file; what is wrong in it is reported and left out. */
void parser_read(struct prototypes *prototypes, struct definitions *into,
		 const char *text, size_t size);

/* A number, perhaps with a minus before it. */
int parser_take_number(struct parser *parser, int64_t *ret) MUST_CHECK;

/* The name behind the type of a parameter or member, if there is one. */
const char *parser_take_name(struct parser *parser);

int parse_function(struct parser *parser) MUST_CHECK;
int parse_type(struct parser *parser, const struct type **ret) MUST_CHECK;

/* "struct", "union", "enum" or "flags" has been read. */
int parse_members(struct parser *parser, enum type_kind kind,
		  const struct type **ret) MUST_CHECK;
int parse_names(struct parser *parser, enum lens lens,
		const struct type **ret) MUST_CHECK;

/* "hex(" or the like comes next. */
int parse_lens(struct parser *parser, enum lens lens,
	       const struct type **ret) MUST_CHECK;

/* What a result convention's name stands for, and its type in parentheses. */
enum failure parser_failure(const struct token *name);
int parse_failure(struct parser *parser, enum failure failure,
		  const struct type **ret) MUST_CHECK;

/* Takes a copy of a type that its maker has filled in. */
int parser_new_type(struct parser *parser, struct type type,
		    const struct type **ret) MUST_CHECK;

/* Whether it can be an element, a member, a parameter; else says so. */
int parser_check_complete(struct parser *parser, const struct token *at,
			  const struct type *type) MUST_CHECK;

int parse_expression(struct parser *parser,
		     const struct expression **ret) MUST_CHECK;

/* The number N of a word like argN; false when it isn't one. */
bool parser_numbered(const struct token *token, const char *stem,
		     uint64_t *ret);

/* The value of an argument from 1 on, or (0) of the result. */
const struct expression *
parser_argument(struct parser *parser, const struct token *at, uint64_t number);

const struct expression *parser_new_expression(struct parser *parser,
					       enum expression_kind kind,
					       uint64_t number,
					       const struct expression *limit);

#endif
