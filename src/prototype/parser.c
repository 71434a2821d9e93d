/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/parser.h"

#include <errno.h>

#include "prototype/collection.h"
#include "script/parse.h"

int parser_take_number(struct parser *parser, int64_t *ret)
{
	const struct token *token = &parser->lexer.token;
	bool negative = token->kind == '-';

	if (negative)
		lexer_next(&parser->lexer);
	if (token->kind != TOKEN_NUMBER)
		return lexer_expected(&parser->lexer, token, "a number");
	*ret = negative ? -token->number : token->number;
	lexer_next(&parser->lexer);
	return 0;
}

/* Who writes one of these as a name has forgotten a comma. */
static bool is_c_type(const struct token *token)
{
	static const char *const words[] = { "char", "short",  "int",
					     "long", "float",  "double",
					     "void", "struct", "union",
					     "enum" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (token_is(token, words[i]))
			return true;
	return false;
}

const char *parser_take_name(struct parser *parser)
{
	const struct token *token = &parser->lexer.token;
	const char *name;

	if (token->kind != TOKEN_NAME || is_c_type(token))
		return NULL;
	name = pool_strndup(&parser->into->pool, token->text, token->length);
	lexer_next(&parser->lexer);
	return name;
}

/* An item of a script; the file's own comes before what it imports. */
static int parse_script(struct parser *parser)
{
	struct definitions *into = parser->into;
	int err = script_parse_item(&parser->lexer, &into->pool,
				    &into->own_script);

	into->script = into->own_script;
	return err;
}

static int parse_import(struct parser *parser)
{
	struct token name;
	int err;

	lexer_next(&parser->lexer);
	name = parser->lexer.token;
	err = lexer_take(&parser->lexer, TOKEN_STRING,
			 "the name of a prototype file in quotes");
	if (!err)
		err = lexer_take_end(&parser->lexer);
	if (err)
		return err;
	err = prototypes_import(parser->prototypes, parser->into, name.text,
				name.length);
	if (err)
		return lexer_expected(&parser->lexer, &name,
				      "a prototype file that can be read");
	return 0;
}

/* A struct that was announced before is completed in its place. */
static void define_type(struct parser *parser, const struct token *name,
			const struct type *type)
{
	struct type *known =
		definitions_find_type(parser->into, name->text, name->length);
	struct pool *pool = &parser->into->pool;

	if (known && !type_is_complete(known) && type->kind == known->kind)
		*known = *type;
	else
		definitions_add_type(parser->into, name->text, name->length,
				     pool_copy(pool, type, sizeof(*type)));
}

static int parse_typedef(struct parser *parser)
{
	const struct type *type;
	struct token name;
	int err;

	lexer_next(&parser->lexer);
	name = parser->lexer.token;
	err = lexer_take(&parser->lexer, TOKEN_NAME, "a name for the type");
	if (!err)
		err = lexer_take(&parser->lexer, '=', "'='");
	if (!err)
		err = parse_type(parser, &type);
	if (!err)
		err = lexer_take_end(&parser->lexer);
	if (!err)
		define_type(parser, &name, type);
	return err;
}

static int parse_item(struct parser *parser)
{
	const struct token *token = &parser->lexer.token;

	parser->highest = (struct token){ 0 };
	if (token->kind == TOKEN_END || token->kind == ';')
		return 0;
	if (token_is(token, "typedef"))
		return parse_typedef(parser);
	if (token_is(token, "import"))
		return parse_import(parser);
	if (token_is(token, "script"))
		return parse_script(parser);
	return parse_function(parser);
}

void parser_read(struct prototypes *prototypes, struct definitions *into,
		 const char *text, size_t size)
{
	struct parser parser = {
		.lexer = lexer_of(into->path, text, size),
		.prototypes = prototypes,
		.into = into,
	};

	into->reading = true;
	while (lexer_next_line(&parser.lexer))
		if (parse_item(&parser))
			lexer_skip_item(&parser.lexer);
	into->reading = false;
}
