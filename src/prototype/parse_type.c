/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "prototype/parser.h"

#define MEMBERS_MAX 1024

static const struct {
	const char *name;
	enum lens lens;
} lenses[] = {
	{ "bool", LENS_BOOL },   { "hex", LENS_HEX },
	{ "oct", LENS_OCTAL },   { "octal", LENS_OCTAL },
	{ "guess", LENS_GUESS }, { "hide", LENS_HIDE },
	{ "char", LENS_CHAR },   { "bitvec", LENS_BITS },
};

/* Takes a copy of a type that its maker has filled in. */
static int new_type(struct parser *parser, struct type type,
		    const struct type **ret)
{
	unsigned inner = type.target ? type.target->depth : 0;

	for (unsigned i = 0; type.kind == TYPE_STRUCT && i < type.count; i++)
		if (inner < type.members[i].type->depth)
			inner = type.members[i].type->depth;
	type.depth = inner + 1;
	if (type.depth > TYPE_DEPTH_MAX)
		return parser_expected(parser, &parser->lexer.token,
				       "types nested less deeply");
	*ret = pool_copy(&parser->into->pool, &type, sizeof(type));
	return 0;
}

static int pointer_to(struct parser *parser, const struct type *target,
		      enum lens lens, const struct type **ret)
{
	return new_type(parser,
			(struct type){ .kind = TYPE_POINTER, .target = target,
				       .lens = lens },
			ret);
}

static int array_of(struct parser *parser, const struct type *element,
		    const struct expression *length, const struct type **ret)
{
	return new_type(parser,
			(struct type){ .kind = TYPE_ARRAY, .target = element,
				       .length = length },
			ret);
}

/* Changes how the integer behind any number of pointers is shown. */
static int with_lens(struct parser *parser, const struct token *at,
		     const struct type *type, enum lens lens,
		     const struct type **ret)
{
	struct type copy = *type;
	int err;

	if (type->kind == TYPE_INTEGER || lens == LENS_HIDE ||
	    lens == LENS_BITS || (type->kind == TYPE_FLOAT &&
				  lens == LENS_HEX)) {
		copy.lens = lens;
	} else if (type->kind == TYPE_POINTER || type->kind == TYPE_ARRAY) {
		err = with_lens(parser, at, type->target, lens, &copy.target);
		if (err)
			return err;
		copy.lens = LENS_PLAIN;
	} else {
		return parser_expected(parser, at, "an integer type");
	}
	*ret = pool_copy(&parser->into->pool, &copy, sizeof(copy));
	return 0;
}

static int parse_lens(struct parser *parser, enum lens lens,
		      const struct type **ret)
{
	const struct type *inner;
	struct token at;
	int err = parser_take(parser, '(', "'('");

	at = parser->lexer.token;
	if (!err)
		err = parse_type(parser, &inner);
	if (!err)
		err = with_lens(parser, &at, inner, lens, ret);
	return err ? err : parser_take(parser, ')', "')'");
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
	int err = parser_take(parser, '[', "'['");

	if (!err)
		err = parse_expression(parser, &length);
	if (!err)
		err = parser_take(parser, ']', "']'");
	return err ? err : text_of(parser, length, lens, ret);
}

static bool is_integer_array(const struct type *type)
{
	return type->kind == TYPE_ARRAY && type->target->kind == TYPE_INTEGER;
}

/* string(TYPE) of a char *, an array, or a pointer to an array. */
static int parse_string_of(struct parser *parser, const struct type **ret)
{
	const struct type *inner;
	struct token at;
	struct type copy;
	int err = parser_take(parser, '(', "'('");

	at = parser->lexer.token;
	if (!err)
		err = parse_type(parser, &inner);
	if (!err)
		err = parser_take(parser, ')', "')'");
	if (err)
		return err;
	copy = *inner;
	copy.lens = LENS_STRING;
	if (inner->kind == TYPE_POINTER &&
	    inner->target->kind == TYPE_INTEGER) {
		err = array_of(parser, inner->target,
			       parser_new_expression(parser, EXPRESSION_ZERO,
						     0, NULL),
			       &copy.target);
		return err ? err : new_type(parser, copy, ret);
	}
	if (!is_integer_array(inner) && !(inner->kind == TYPE_POINTER &&
					  is_integer_array(inner->target)))
		return parser_expected(parser, &at,
				       "char* or array(char, LENGTH)*");
	return new_type(parser, copy, ret);
}

static int parse_array(struct parser *parser, const struct type **ret)
{
	const struct expression *length;
	const struct type *element;
	struct token at;
	int err = parser_take(parser, '(', "'('");

	at = parser->lexer.token;
	if (!err)
		err = parse_type(parser, &element);
	if (!err && (element->kind == TYPE_VOID ||
		     (element->kind == TYPE_STRUCT && !element->complete)))
		err = parser_expected(parser, &at,
				      "a type of known size");
	if (!err)
		err = parser_take(parser, ',', "','");
	if (!err)
		err = parse_expression(parser, &length);
	if (!err)
		err = parser_take(parser, ')', "')'");
	return err ? err : array_of(parser, element, length, ret);
}

static int parse_member(struct parser *parser, const struct type **ret)
{
	struct token at = parser->lexer.token;
	int err = parse_type(parser, ret);

	if (!err && ((*ret)->kind == TYPE_VOID ||
		     ((*ret)->kind == TYPE_STRUCT && !(*ret)->complete)))
		err = parser_expected(parser, &at, "a type of known size");
	return err;
}

/* struct alone announces one that is defined later. */
static int parse_struct(struct parser *parser, const struct type **ret)
{
	struct type_member members[MEMBERS_MAX] = { 0 };
	struct type type = { .kind = TYPE_STRUCT };
	int err = 0;

	if (parser->lexer.token.kind != '(')
		return new_type(parser, type, ret);
	lexer_next(&parser->lexer);
	while (!err && parser->lexer.token.kind != ')') {
		if (type.count == MEMBERS_MAX)
			return parser_expected(parser, &parser->lexer.token,
					       "fewer members");
		err = parse_member(parser, &members[type.count].type);
		if (err)
			return err;
		type.count++;
		if (parser->lexer.token.kind != ')')
			err = parser_take(parser, ',', "',' or ')'");
	}
	if (err)
		return err;
	lexer_next(&parser->lexer);
	type.complete = true;
	type.members = pool_copy(&parser->into->pool, members,
				 type.count * sizeof(*members));
	return new_type(parser, type, ret);
}

static int parse_enum_value(struct parser *parser, int64_t *ret)
{
	bool negative = false;

	lexer_next(&parser->lexer);
	if (parser->lexer.token.kind == '-') {
		negative = true;
		lexer_next(&parser->lexer);
	}
	if (parser->lexer.token.kind != TOKEN_NUMBER)
		return parser_expected(parser, &parser->lexer.token,
				       "a number");
	*ret = parser->lexer.token.number;
	if (negative)
		*ret = -(uint64_t)*ret;
	lexer_next(&parser->lexer);
	return 0;
}

static int parse_enum_name(struct parser *parser, int64_t next,
			   struct type_name *ret)
{
	const struct token *token = &parser->lexer.token;

	if (token->kind != TOKEN_NAME)
		return parser_expected(parser, token, "a name");
	ret->name = pool_strndup(&parser->into->pool, token->text,
				 token->length);
	ret->value = next;
	lexer_next(&parser->lexer);
	return token->kind == '=' ? parse_enum_value(parser, &ret->value) : 0;
}

static int parse_enum_names(struct parser *parser, struct type *type)
{
	struct type_name names[MEMBERS_MAX];
	int64_t next = 0;
	int err = parser_take(parser, '(', "'('");

	while (!err) {
		if (type->count == MEMBERS_MAX)
			return parser_expected(parser, &parser->lexer.token,
					       "fewer names");
		err = parse_enum_name(parser, next, &names[type->count]);
		if (err)
			return err;
		next = (uint64_t)names[type->count++].value + 1;
		if (parser->lexer.token.kind == ')')
			break;
		err = parser_take(parser, ',', "',' or ')'");
	}
	if (err)
		return err;
	lexer_next(&parser->lexer);
	type->names = pool_copy(&parser->into->pool, names,
				type->count * sizeof(*names));
	return 0;
}

static int parse_enum(struct parser *parser, const struct type **ret)
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
			err = parser_expected(parser, &at, "an integer type");
		if (!err)
			err = parser_take(parser, ']', "']'");
	}
	if (err)
		return err;
	type = *base;
	type.lens = LENS_ENUM;
	type.count = 0;
	err = parse_enum_names(parser, &type);
	return err ? err : new_type(parser, type, ret);
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
	if (token_is(name, "string") && next == '(')
		return parse_string_of(parser, ret);
	if (token_is(name, "string") && next == '[')
		return parse_bracketed(parser, LENS_STRING, ret);
	if (token_is(name, "bytes") && next == '[')
		return parse_bracketed(parser, LENS_BYTES, ret);
	if (token_is(name, "array"))
		return parse_array(parser, ret);
	if (token_is(name, "struct"))
		return parse_struct(parser, ret);
	if (token_is(name, "enum"))
		return parse_enum(parser, ret);
	return -ENOENT;
}

static int parse_named(struct parser *parser, const struct type **ret)
{
	struct token name = parser->lexer.token;
	uint64_t number;
	int err;

	if (name.kind != TOKEN_NAME)
		return parser_expected(parser, &name, "a type");
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
	return parser_expected(parser, &name, "a type");
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
		err = parser_expected(parser, &parser->lexer.token,
				      "types nested less deeply");
	else
		err = parse_pointers(parser, ret);
	parser->depth--;
	return err;
}
