/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/parser.h"

#include <errno.h>

#include "base/diag.h"
#include "prototype/collection.h"

/* A file that isn't meant for us has one on each line. */
#define ERRORS_MAX 20

void parser_report(struct parser *parser, const struct token *at,
		   const char *message)
{
	if (++parser->errors <= ERRORS_MAX)
		diag(DIAG_WARNING, DIAG_PROTOTYPE, "%s:%u:%u: %s",
		     parser->into->path, at->line, at->column, message);
	if (parser->errors == ERRORS_MAX)
		diag(DIAG_WARNING, DIAG_PROTOTYPE,
		     "%s: further errors are not shown",
		     parser->into->path);
}

int parser_expected(struct parser *parser, const struct token *at,
		    const char *what)
{
	struct strbuf message = { 0 };
	int shown = at->length < 40 ? (int)at->length : 40;

	strbuf_printf(&message, "expected %s",
		      at->kind == TOKEN_BAD ? at->problem : what);
	if (at->kind == TOKEN_END)
		strbuf_puts(&message, " before the end of the line");
	else
		strbuf_printf(&message, ", not '%.*s'", shown, at->text);
	parser_report(parser, at, strbuf_text(&message));
	strbuf_fini(&message);
	return -EINVAL;
}

int parser_take(struct parser *parser, int kind, const char *what)
{
	if (parser->lexer.token.kind != kind)
		return parser_expected(parser, &parser->lexer.token, what);
	lexer_next(&parser->lexer);
	return 0;
}

bool parser_take_word(struct parser *parser, const char *word)
{
	if (!token_is(&parser->lexer.token, word))
		return false;
	lexer_next(&parser->lexer);
	return true;
}

int parser_take_number(struct parser *parser, int64_t *ret)
{
	const struct token *token = &parser->lexer.token;
	bool negative = token->kind == '-';

	if (negative)
		lexer_next(&parser->lexer);
	if (token->kind != TOKEN_NUMBER)
		return parser_expected(parser, token, "a number");
	*ret = negative ? -token->number : token->number;
	lexer_next(&parser->lexer);
	return 0;
}

/* Who writes one of these as a name has forgotten a comma. */
static bool is_c_type(const struct token *token)
{
	static const char *const words[] = { "char",  "short",  "int",
					     "long",  "float",  "double",
					     "void",  "struct", "union",
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

int parser_take_end(struct parser *parser)
{
	const struct token *token = &parser->lexer.token;

	if (token->kind == TOKEN_END)
		return 0;
	if (token->kind != ';')
		return parser_expected(parser, token, "';'");
	lexer_next(&parser->lexer);
	if (token->kind == TOKEN_END || token->kind == ';')
		return 0;
	return parser_expected(parser, token, "one item a line");
}

static int parse_import(struct parser *parser)
{
	struct token name;
	int err;

	lexer_next(&parser->lexer);
	name = parser->lexer.token;
	err = parser_take(parser, TOKEN_STRING,
			  "the name of a prototype file in quotes");
	if (!err)
		err = parser_take_end(parser);
	if (err)
		return err;
	err = prototypes_import(parser->prototypes, parser->into, name.text,
				name.length);
	if (err)
		return parser_expected(parser, &name,
				       "a prototype file that can be read");
	return 0;
}

/* A struct that was announced before is completed in its place. */
static void define_type(struct parser *parser, const struct token *name,
			const struct type *type)
{
	struct type *known = definitions_find_type(parser->into, name->text,
						   name->length);
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
	err = parser_take(parser, TOKEN_NAME, "a name for the type");
	if (!err)
		err = parser_take(parser, '=', "'='");
	if (!err)
		err = parse_type(parser, &type);
	if (!err)
		err = parser_take_end(parser);
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
		.lexer = lexer_of(text, size),
		.prototypes = prototypes,
		.into = into,
	};

	into->reading = true;
	while (lexer_next_line(&parser.lexer))
		if (parse_item(&parser))
			lexer_skip_item(&parser.lexer);
	into->reading = false;
}
