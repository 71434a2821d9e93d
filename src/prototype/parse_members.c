/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "prototype/parser.h"

#define MEMBERS_MAX 1024

static int parse_member(struct parser *parser, struct type_member *ret)
{
	struct token at = parser->lexer.token;
	int err = parse_type(parser, &ret->type);

	if (!err)
		err = parser_check_complete(parser, &at, ret->type);
	if (!err)
		ret->name = parser_take_name(parser);
	return err;
}

static int parse_list(struct parser *parser, struct type_member *members,
		      unsigned *count)
{
	const struct token *token = &parser->lexer.token;
	int err = 0;

	while (!err && token->kind != ')') {
		if (*count == MEMBERS_MAX)
			return lexer_expected(&parser->lexer, token,
					      "fewer members");
		err = parse_member(parser, &members[(*count)++]);
		if (!err && token->kind != ')')
			err = lexer_take(&parser->lexer, ',', "',' or ')'");
	}
	return err;
}

/* struct alone announces one that is defined later. */
int parse_members(struct parser *parser, enum type_kind kind,
		  const struct type **ret)
{
	struct type_member members[MEMBERS_MAX] = { 0 };
	struct type type = { .kind = kind };
	int err;

	if (parser->lexer.token.kind != '(')
		return parser_new_type(parser, type, ret);
	lexer_next(&parser->lexer);
	err = parse_list(parser, members, &type.count);
	if (err)
		return err;
	lexer_next(&parser->lexer);
	type.complete = true;
	type.members = pool_copy(&parser->into->pool, members,
				 type.count * sizeof(*members));
	return parser_new_type(parser, type, ret);
}
