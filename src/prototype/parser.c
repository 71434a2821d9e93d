/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/parser.h"

#include <errno.h>

#include "base/diag.h"
#include "prototype/collection.h"

/* A file that isn't meant for us has one on each line. */
#define ERRORS_MAX 20

static void report(struct parser *parser, const struct token *at,
		   const char *message)
{
	if (++parser->errors <= ERRORS_MAX)
		diag(DIAG_WARNING, DIAG_PROTOTYPE, "%s:%u:%u: %s",
		     parser->into->path, parser->lexer.line, at->column,
		     message);
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
	report(parser, at, strbuf_text(&message));
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

/* Everything behind the item's semicolon must be a comment. */
static int parse_end(struct parser *parser)
{
	int err = parser_take(parser, ';', "';'");

	if (err || parser->lexer.token.kind == TOKEN_END ||
	    parser->lexer.token.kind == ';')
		return err;
	return parser_expected(parser, &parser->lexer.token,
			       "one item a line");
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
		err = parse_end(parser);
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

	if (known && known->kind == TYPE_STRUCT && !known->complete &&
	    type->kind == TYPE_STRUCT)
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
		err = parse_end(parser);
	if (!err)
		define_type(parser, &name, type);
	return err;
}

/* In C, arrays are passed by their address. */
static const struct type *decay(struct parser *parser, const struct type *type)
{
	struct type pointer = {
		.kind = TYPE_POINTER,
		.target = type,
		.lens = type->lens,
		.depth = type->depth + 1,
	};

	if (type->kind != TYPE_ARRAY)
		return type;
	return pool_copy(&parser->into->pool, &pointer, sizeof(pointer));
}

/* The parameters of the function that is being read. */
struct parameters {
	struct parameter list[PARAMETERS_MAX];
	unsigned count;
	unsigned later;
	bool supported;
};

static int parse_parameter(struct parser *parser, struct parameters *all)
{
	const struct type *type;
	struct token at = parser->lexer.token;
	bool later = at.kind == '+';
	int err;

	if (all->count == PARAMETERS_MAX)
		return parser_expected(parser, &at, "fewer parameters");
	if (all->count && all->list[all->count - 1].type->lens == LENS_FORMAT)
		return parser_expected(parser, &at,
				       "no parameter behind the format");
	if (later)
		lexer_next(&parser->lexer);
	err = parse_type(parser, &type);
	if (err)
		return err;
	type = decay(parser, type);
	if ((later || type_needs_result(type)) && all->count < all->later)
		all->later = all->count;
	if (!type_is_passed(type))
		all->supported = false;
	all->list[all->count++] = (struct parameter){ .type = type };
	return 0;
}

static int parse_parameters(struct parser *parser, struct parameters *all)
{
	int err = parser_take(parser, '(', "'('");

	while (!err && parser->lexer.token.kind != ')') {
		err = parse_parameter(parser, all);
		if (!err && parser->lexer.token.kind == ',') {
			lexer_next(&parser->lexer);
			if (parser->lexer.token.kind == ')')
				err = parser_expected(parser,
						      &parser->lexer.token,
						      "a type");
		} else if (!err && parser->lexer.token.kind != ')') {
			err = parser_expected(parser, &parser->lexer.token,
					      "',' or ')'");
		}
	}
	return err ? err : parser_take(parser, ')', "')'");
}

/* One void stands for none; among others it is a word not to be shown. */
static void settle_voids(struct parser *parser, const struct token *name,
			 struct parameters *all)
{
	if (all->count == 1 && all->list[0].type->kind == TYPE_VOID)
		all->count = 0;
	for (unsigned i = 0; i < all->count; i++) {
		if (all->list[i].type->kind != TYPE_VOID)
			continue;
		report(parser, name,
		       "a void parameter among others is taken as hide(int)");
		all->list[i].type = type_builtin("hide", 4);
	}
}

static void define_function(struct parser *parser, const struct token *name,
			    const struct type *result,
			    const struct parameters *all)
{
	struct pool *pool = &parser->into->pool;
	struct prototype prototype = {
		.result = result,
		.parameters = pool_copy(pool, all->list,
					all->count * sizeof(*all->list)),
		.count = all->count,
		.later = all->later < all->count ? all->later : all->count,
	};

	definitions_add_function(parser->into, name->text, name->length,
				 pool_copy(pool, &prototype,
					   sizeof(prototype)));
}

static int parse_function(struct parser *parser)
{
	struct parameters all = { .later = PARAMETERS_MAX, .supported = true };
	const struct type *result;
	struct token name;
	int err;

	if (token_is(&parser->lexer.token, "function"))
		lexer_next(&parser->lexer);
	err = parse_type(parser, &result);
	name = parser->lexer.token;
	if (!err)
		err = parser_take(parser, TOKEN_NAME, "a function's name");
	if (!err)
		err = parse_parameters(parser, &all);
	if (!err)
		err = parse_end(parser);
	if (err)
		return err;
	settle_voids(parser, &name, &all);
	if (parser->highest.number > all.count)
		return parser_expected(parser, &parser->highest,
				       "the number of a parameter");
	if (!all.supported || !type_is_passed(result))
		return -ENOTSUP;
	define_function(parser, &name, result, &all);
	return 0;
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
		if (parse_item(&parser) == -ENOTSUP)
			parser.left_out++;
	into->reading = false;
	if (parser.left_out)
		diag_debug(DIAG_PROTOTYPE,
			   "%s: %u prototypes that pass float, double or "
			   "struct by value are not used by this version",
			   into->path, parser.left_out);
}
