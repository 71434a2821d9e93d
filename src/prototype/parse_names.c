/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "prototype/parser.h"

#define NAMES_MAX 1024

/* The next of an enum has one more, unless it says otherwise. */
static int parse_enum_value(struct parser *parser, struct type_name *ret)
{
	if (parser->lexer.token.kind != '=')
		return 0;
	lexer_next(&parser->lexer);
	return parser_take_number(parser, &ret->value);
}

/* VALUE or VALUE/MASK. Nothing at all has all bits for its mask. */
static int parse_flag_value(struct parser *parser, struct type_name *ret)
{
	struct token at;
	int64_t mask;
	int err = lexer_take(&parser->lexer, '=', "'='");

	if (!err)
		err = parser_take_number(parser, &ret->value);
	if (err)
		return err;
	ret->mask = ret->value ? (uint64_t)ret->value : UINT64_MAX;
	if (parser->lexer.token.kind != '/')
		return 0;
	lexer_next(&parser->lexer);
	at = parser->lexer.token;
	err = parser_take_number(parser, &mask);
	if (!err && (!mask || ret->value & ~mask))
		err = lexer_expected(&parser->lexer, &at,
				     "a mask that holds the value");
	ret->mask = mask;
	return err;
}

static int parse_name(struct parser *parser, enum lens lens,
		      struct type_name *ret)
{
	const struct token *token = &parser->lexer.token;

	if (token->kind != TOKEN_NAME)
		return lexer_expected(&parser->lexer, token, "a name");
	ret->name =
		pool_strndup(&parser->into->pool, token->text, token->length);
	lexer_next(&parser->lexer);
	return lens == LENS_FLAGS ? parse_flag_value(parser, ret) :
				    parse_enum_value(parser, ret);
}

static int parse_list(struct parser *parser, struct type *type)
{
	struct type_name names[NAMES_MAX];
	int64_t next = 0;
	int err = lexer_take(&parser->lexer, '(', "'('");

	while (!err) {
		struct type_name *name = &names[type->count];

		if (type->count == NAMES_MAX)
			return lexer_missing(&parser->lexer, "fewer names");
		*name = (struct type_name){ .value = next };
		err = parse_name(parser, type->lens, name);
		if (err)
			return err;
		type->count++;
		next = (uint64_t)name->value + 1;
		if (parser->lexer.token.kind == ')')
			break;
		err = lexer_take(&parser->lexer, ',', "',' or ')'");
	}
	if (err)
		return err;
	lexer_next(&parser->lexer);
	type->names = pool_copy(&parser->into->pool, names,
				type->count * sizeof(*names));
	return 0;
}

int parse_names(struct parser *parser, enum lens lens, const struct type **ret)
{
	const struct type *base = type_builtin("int", 3);
	struct type type;
	int err = 0;

	if (parser->lexer.token.kind == '[') {
		struct token at;

		lexer_next(&parser->lexer);
		at = parser->lexer.token;
		err = parse_type(parser, &base);
		if (!err && base->kind != TYPE_INTEGER)
			err = lexer_expected(&parser->lexer, &at,
					     "an integer type");
		if (!err)
			err = lexer_take(&parser->lexer, ']', "']'");
	}
	if (err)
		return err;
	type = *base;
	type.lens = lens;
	type.count = 0;
	err = parse_list(parser, &type);
	return err ? err : parser_new_type(parser, type, ret);
}
