/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "prototype/layout.h"
#include "prototype/parser.h"

/* What a value of a type may hold; printing goes through all of it. */
#define WEIGHT_MAX 4096

static const struct {
	const char *name;
	enum lens lens;
} lenses[] = {
	{ "bool", LENS_BOOL },   { "hex", LENS_HEX },
	{ "oct", LENS_OCTAL },   { "octal", LENS_OCTAL },
	{ "guess", LENS_GUESS }, { "hide", LENS_HIDE },
	{ "char", LENS_CHAR },   { "bitvec", LENS_BITS },
	{ "bin", LENS_BINARY },  { "errname", LENS_ERRNAME },
};

static bool expression_needs_result(const struct expression *expression)
{
	while (expression && expression->kind == EXPRESSION_ZERO)
		expression = expression->limit;
	for (; expression; expression = expression->times)
		if (expression->kind == EXPRESSION_RESULT)
			return true;
	return false;
}

static void add_part(struct type *type, const struct type *part)
{
	if (type->depth < part->depth)
		type->depth = part->depth;
	if (part->needs_result)
		type->needs_result = true;
	if (type->kind != TYPE_POINTER)
		type->weight += part->weight ? part->weight : 1;
}

int parser_new_type(struct parser *parser, struct type type,
		    const struct type **ret)
{
	const struct token *at = &parser->lexer.token;
	bool has_members = type.kind == TYPE_STRUCT || type.kind == TYPE_UNION;

	type.depth = 0;
	type.weight = 1;
	type.needs_result = expression_needs_result(type.length);
	if (type.target)
		add_part(&type, type.target);
	for (unsigned i = 0; has_members && i < type.count; i++)
		add_part(&type, type.members[i].type);
	type.depth++;
	if (type.depth > TYPE_DEPTH_MAX)
		return lexer_expected(&parser->lexer, at,
				      "types nested less deeply");
	if (type.weight > WEIGHT_MAX ||
	    layout_of(&type, sizeof(uint64_t)).size >= LAYOUT_BYTES_MAX)
		return lexer_expected(&parser->lexer, at, "a smaller type");
	*ret = pool_copy(&parser->into->pool, &type, sizeof(type));
	return 0;
}

int parser_check_complete(struct parser *parser, const struct token *at,
			  const struct type *type)
{
	if (type->kind == TYPE_VOID || !type_is_complete(type))
		return lexer_expected(&parser->lexer, at,
				      "a type of known size");
	return 0;
}

static int pointer_to(struct parser *parser, const struct type *target,
		      enum lens lens, const struct type **ret)
{
	struct type type = { .kind = TYPE_POINTER,
			     .target = target,
			     .lens = lens };

	return parser_new_type(parser, type, ret);
}

static int array_of(struct parser *parser, const struct type *element,
		    const struct expression *length, const struct type **ret)
{
	struct type type = { .kind = TYPE_ARRAY,
			     .target = element,
			     .length = length };

	return parser_new_type(parser, type, ret);
}

/* A text: so many characters, as a string or with all its NULs. */
static int text_of(struct parser *parser, const struct expression *length,
		   enum lens lens, const struct type **ret)
{
	const struct type *array = NULL;
	int err = array_of(parser, type_builtin("char", 4), length, &array);

	return err ? err : pointer_to(parser, array, lens, ret);
}

static int parse_bracketed(struct parser *parser, enum lens lens,
			   const struct type **ret)
{
	const struct expression *length;
	int err = lexer_take(&parser->lexer, '[', "'['");

	if (!err)
		err = parse_expression(parser, &length);
	if (!err)
		err = lexer_take(&parser->lexer, ']', "']'");
	return err ? err : text_of(parser, length, lens, ret);
}

static bool is_integer_array(const struct type *type)
{
	return type->kind == TYPE_ARRAY && type->target->kind == TYPE_INTEGER;
}

/* Of an array that says how long it is, all is shown. */
static enum lens lens_of_text(const struct type *inner, enum lens lens)
{
	const struct type *array = inner->kind == TYPE_POINTER ? inner->target :
								 inner;

	if (lens == LENS_STRING && array->kind == TYPE_ARRAY && array->length &&
	    array->length->kind != EXPRESSION_ZERO)
		return LENS_BYTES;
	return lens;
}

/* A char *, an array, or a pointer to an array, as a text. */
static int to_text(struct parser *parser, const struct token *at,
		   const struct type *inner, enum lens lens,
		   const struct type **ret)
{
	struct type copy = *inner;
	int err;

	copy.lens = lens_of_text(inner, lens);
	if (is_integer_array(inner) ||
	    (inner->kind == TYPE_POINTER && is_integer_array(inner->target)))
		return parser_new_type(parser, copy, ret);
	if (inner->kind != TYPE_POINTER || inner->target->kind != TYPE_INTEGER)
		return lexer_expected(&parser->lexer, at,
				      "char* or array(char, LENGTH)*");
	err = array_of(parser, inner->target,
		       parser_new_expression(parser, EXPRESSION_ZERO, 0, NULL),
		       &copy.target);
	return err ? err : parser_new_type(parser, copy, ret);
}

/* string(TYPE) or format(TYPE); string of an integer is one character. */
static int parse_string_of(struct parser *parser, enum lens lens,
			   const struct type **ret)
{
	const struct type *inner;
	struct type character;
	struct token at;
	int err = lexer_take(&parser->lexer, '(', "'('");

	at = parser->lexer.token;
	if (!err)
		err = parse_type(parser, &inner);
	if (!err)
		err = lexer_take(&parser->lexer, ')', "')'");
	if (err)
		return err;
	if (inner->kind != TYPE_INTEGER || lens != LENS_STRING)
		return to_text(parser, &at, inner, lens, ret);
	character = *inner;
	character.lens = LENS_CHAR;
	return parser_new_type(parser, character, ret);
}

/* at(string): its address, too. */
static int parse_addressed(struct parser *parser, const struct type **ret)
{
	const struct type *inner;
	struct type type;
	struct token at;
	int err = lexer_take(&parser->lexer, '(', "'('");

	at = parser->lexer.token;
	if (!err)
		err = parse_type(parser, &inner);
	if (!err &&
	    (inner->kind != TYPE_POINTER || inner->target->kind != TYPE_ARRAY))
		err = lexer_expected(&parser->lexer, &at, "a string");
	if (err)
		return err;
	type = *inner;
	type.addressed = true;
	*ret = pool_copy(&parser->into->pool, &type, sizeof(type));
	return lexer_take(&parser->lexer, ')', "')'");
}

static int parse_array(struct parser *parser, const struct type **ret)
{
	const struct expression *length;
	const struct type *element;
	struct token at;
	int err = lexer_take(&parser->lexer, '(', "'('");

	at = parser->lexer.token;
	if (!err)
		err = parse_type(parser, &element);
	if (!err)
		err = parser_check_complete(parser, &at, element);
	if (!err)
		err = lexer_take(&parser->lexer, ',', "','");
	if (!err)
		err = parse_expression(parser, &length);
	if (!err)
		err = lexer_take(&parser->lexer, ')', "')'");
	return err ? err : array_of(parser, element, length, ret);
}

/* What needs more than its name; -ENOENT when there is no such thing. */
static int parse_composed(struct parser *parser, const struct token *name,
			  const struct type **ret)
{
	int next = parser->lexer.token.kind;

	if (next == '(')
		for (size_t i = 0; i < ARRAY_SIZE(lenses); i++)
			if (token_is(name, lenses[i].name))
				return parse_lens(parser, lenses[i].lens, ret);
	if (next == '(' && parser_failure(name) != FAILURE_UNKNOWN)
		return parse_failure(parser, parser_failure(name), ret);
	if (token_is(name, "at") && next == '(')
		return parse_addressed(parser, ret);
	if (token_is(name, "string") && next == '(')
		return parse_string_of(parser, LENS_STRING, ret);
	if (token_is(name, "format") && next == '(')
		return parse_string_of(parser, LENS_FORMAT, ret);
	if (token_is(name, "string") && next == '[')
		return parse_bracketed(parser, LENS_STRING, ret);
	if (token_is(name, "bytes") && next == '[')
		return parse_bracketed(parser, LENS_BYTES, ret);
	if (token_is(name, "sockaddr") && next == '[')
		return parse_bracketed(parser, LENS_SOCKADDR, ret);
	if (token_is(name, "array"))
		return parse_array(parser, ret);
	if (token_is(name, "struct"))
		return parse_members(parser, TYPE_STRUCT, ret);
	if (token_is(name, "union"))
		return parse_members(parser, TYPE_UNION, ret);
	if (token_is(name, "enum"))
		return parse_names(parser, LENS_ENUM, ret);
	if (token_is(name, "flags") && (next == '(' || next == '['))
		return parse_names(parser, LENS_FLAGS, ret);
	return -ENOENT;
}

static int parse_named(struct parser *parser, const struct type **ret)
{
	struct token name = parser->lexer.token;
	uint64_t number;
	int err;

	if (name.kind != TOKEN_NAME)
		return lexer_expected(&parser->lexer, &name, "a type");
	lexer_next(&parser->lexer);
	err = parse_composed(parser, &name, ret);
	if (err != -ENOENT)
		return err;
	*ret = definitions_find_type(parser->into, name.text, name.length);
	if (!*ret)
		*ret = type_builtin(name.text, name.length);
	if (*ret)
		return 0;
	if (parser_numbered(&name, "string", &number))
		return text_of(parser, parser_argument(parser, &name, number),
			       LENS_STRING, ret);
	return lexer_expected(&parser->lexer, &name, "a type");
}

static int parse_pointers(struct parser *parser, const struct type **ret)
{
	int err = parse_named(parser, ret);

	while (!err && parser->lexer.token.kind == '*') {
		lexer_next(&parser->lexer);
		err = pointer_to(parser, *ret, LENS_PLAIN, ret);
	}
	return err;
}

int parse_type(struct parser *parser, const struct type **ret)
{
	int err;

	if (++parser->depth > TYPE_DEPTH_MAX)
		err = lexer_missing(&parser->lexer, "types nested less deeply");
	else
		err = parse_pointers(parser, ret);
	parser->depth--;
	return err;
}
