/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <errno.h>

#include "prototype/parser.h"

#define VALUES_MAX       64
#define ALTERNATIVES_MAX 16

/* The parameters of the function that is being read. */
struct parameter_list {
	struct parameter list[PARAMETERS_MAX];
	unsigned count;
	unsigned later;
	bool variadic;
};

/* In C, arrays are passed by their address. */
static const struct type *decay(struct parser *parser, const struct type *type)
{
	struct type pointer = {
		.kind = TYPE_POINTER,
		.target = type,
		.lens = type->lens,
		.depth = type->depth + 1,
		.needs_result = type->needs_result,
	};

	if (type->kind != TYPE_ARRAY)
		return type;
	return pool_copy(&parser->into->pool, &pointer, sizeof(pointer));
}

/* argN & BITS, or argN == VALUE|VALUE..., and a comma. */
static int parse_condition_values(struct parser *parser,
				  struct condition *condition)
{
	int64_t values[VALUES_MAX];
	int err = 0;

	do {
		if (condition->count == VALUES_MAX)
			return lexer_missing(&parser->lexer, "fewer values");
		lexer_next(&parser->lexer);
		err = parser_take_number(parser, &values[condition->count++]);
	} while (!err && condition->kind == CONDITION_VALUE &&
		 parser->lexer.token.kind == '|');
	condition->values = pool_copy(&parser->into->pool, values,
				      condition->count * sizeof(*values));
	return err ? err : lexer_take(&parser->lexer, ',', "','");
}

static int parse_condition(struct parser *parser, struct condition *ret)
{
	struct token at;
	uint64_t number;
	int err = lexer_take(&parser->lexer, '(', "'('");

	if (err)
		return err;
	at = parser->lexer.token;
	if (!parser_numbered(&at, "arg", &number) || !number)
		return lexer_expected(&parser->lexer, &at,
				      "an argument (argN)");
	parser_argument(parser, &at, number);
	lexer_next(&parser->lexer);
	ret->argument = number;
	ret->kind = parser->lexer.token.kind == '&' ? CONDITION_BITS :
						      CONDITION_VALUE;
	if (ret->kind == CONDITION_VALUE)
		err = lexer_take(&parser->lexer, '=', "'&' or '=='");
	if (!err && ret->kind == CONDITION_VALUE &&
	    parser->lexer.token.kind != '=')
		err = lexer_missing(&parser->lexer, "'=='");
	return err ? err : parse_condition_values(parser, ret);
}

/* Perhaps when(CONDITION, TYPE). */
static int parse_conditional(struct parser *parser, struct parameter *ret)
{
	bool conditional = lexer_take_word(&parser->lexer, "when");
	struct token at;
	int err = 0;

	if (conditional)
		err = parse_condition(parser, &ret->when);
	at = parser->lexer.token;
	if (!err)
		err = parse_type(parser, &ret->type);
	if (!err)
		ret->type = decay(parser, ret->type);
	if (!err && ret->type->kind != TYPE_VOID)
		err = parser_check_complete(parser, &at, ret->type);
	if (!err && conditional)
		err = lexer_take(&parser->lexer, ')', "')'");
	return err;
}

/* Several of them take the same place, so they have to fit there. */
static int check_alternative(struct parser *parser, const struct token *at,
			     const struct type *type)
{
	bool fits = (type->kind == TYPE_POINTER && type->lens != LENS_FORMAT) ||
		    (type->kind == TYPE_INTEGER && type->size <= 4);

	if (fits)
		return 0;
	return lexer_expected(&parser->lexer, at,
			      "a number or pointer, no larger than a pointer");
}

/* when(...) | when(...) | TYPE: the last one, if it isn't a when(), always. */
static int parse_alternatives(struct parser *parser, struct parameter *ret)
{
	struct alternative list[ALTERNATIVES_MAX];
	unsigned count = 0;
	struct token at;
	int err;

	do {
		struct parameter one = { 0 };

		if (count == ALTERNATIVES_MAX)
			return lexer_missing(&parser->lexer,
					     "fewer alternatives");
		if (count)
			lexer_next(&parser->lexer);
		at = parser->lexer.token;
		err = parse_conditional(parser, &one);
		if (!err && (count || parser->lexer.token.kind == '|'))
			err = check_alternative(parser, &at, one.type);
		if (err)
			return err;
		list[count++] = (struct alternative){ one.type, one.when };
		ret->type = one.type;
		ret->when = one.when;
	} while (parser->lexer.token.kind == '|' &&
		 ret->when.kind != CONDITION_NONE);
	if (count == 1)
		return 0;
	ret->type = &type_guess;
	ret->alternatives =
		pool_copy(&parser->into->pool, list, count * sizeof(*list));
	ret->alternative_count = count;
	return 0;
}

static bool needs_result(const struct parameter *parameter)
{
	bool needed = parameter->type->needs_result;

	for (unsigned i = 0; i < parameter->alternative_count; i++)
		needed = needed ||
			 parameter->alternatives[i].type->needs_result;
	return needed;
}

/* What follows this may stand behind the parameters so far. */
static int check_order(struct parser *parser, const struct token *at,
		       const struct parameter_list *all, bool conditional)
{
	const struct parameter *last;

	if (all->count == PARAMETERS_MAX)
		return lexer_expected(&parser->lexer, at, "fewer parameters");
	if (!all->count)
		return 0;
	last = &all->list[all->count - 1];
	if (last->type->lens == LENS_FORMAT || last->type->lens == LENS_SCAN)
		return lexer_expected(&parser->lexer, at,
				      "no parameter behind the format");
	if (last->when.kind != CONDITION_NONE && !conditional)
		return lexer_expected(&parser->lexer, at,
				      "another when() behind this one, or ')'");
	return 0;
}

/* With a + of its own, a format is one that the function reads by. */
static const struct type *to_scan(struct parser *parser,
				  const struct type *type)
{
	struct type scan = *type;

	if (type->lens != LENS_FORMAT)
		return type;
	scan.lens = LENS_SCAN;
	return pool_copy(&parser->into->pool, &scan, sizeof(scan));
}

/* A + before it, or two: it is shown even when the function has failed. */
static bool parse_later(struct parser *parser, struct parameter *ret)
{
	const struct token *token = &parser->lexer.token;

	if (token->kind != '+')
		return false;
	lexer_next(&parser->lexer);
	ret->filled = token->kind != '+';
	if (!ret->filled)
		lexer_next(&parser->lexer);
	return true;
}

/* Behind a point it is one to ask for, which isn't shown. */
static int parse_parameter_name(struct parser *parser, struct parameter *ret)
{
	const struct token at = parser->lexer.token;

	ret->name = parser_take_name(parser);
	if (!ret->name || ret->name[0] != '.')
		return 0;
	ret->unshown = true;
	ret->name++;
	return isalpha((unsigned char)ret->name[0]) || ret->name[0] == '_' ?
		       0 :
		       lexer_expected(&parser->lexer, &at, "a name");
}

static int parse_parameter(struct parser *parser, struct parameter_list *all)
{
	struct parameter parameter = { 0 };
	struct token at = parser->lexer.token;
	bool later = parse_later(parser, &parameter);
	int err;

	err = check_order(parser, &at, all,
			  token_is(&parser->lexer.token, "when") ||
				  token_is(&parser->lexer.token, "..."));
	if (!err && !later && lexer_take_word(&parser->lexer, "...")) {
		all->variadic = true;
		return 0;
	}
	if (!err)
		err = parse_alternatives(parser, &parameter);
	if (err)
		return err;
	if (later)
		parameter.type = to_scan(parser, parameter.type);
	err = parse_parameter_name(parser, &parameter);
	if (err)
		return err;
	if ((later || needs_result(&parameter)) && all->count < all->later)
		all->later = all->count;
	all->list[all->count++] = parameter;
	return 0;
}

static int parse_parameters(struct parser *parser, struct parameter_list *all)
{
	const struct token *token = &parser->lexer.token;
	int err = lexer_take(&parser->lexer, '(', "'('");

	while (!err && token->kind != ')') {
		err = parse_parameter(parser, all);
		if (err || token->kind == ')')
			break;
		if (all->variadic)
			return lexer_expected(&parser->lexer, token, "')'");
		err = lexer_take(&parser->lexer, ',', "',' or ')'");
		if (!err && token->kind == ')')
			err = lexer_expected(&parser->lexer, token, "a type");
	}
	return err ? err : lexer_take(&parser->lexer, ')', "')'");
}

/* One void stands for none; among others it is a word not to be shown. */
static void settle_voids(struct parser *parser, const struct token *name,
			 struct parameter_list *all)
{
	if (all->count == 1 && all->list[0].type->kind == TYPE_VOID)
		all->count = 0;
	for (unsigned i = 0; i < all->count; i++) {
		if (all->list[i].type->kind != TYPE_VOID)
			continue;
		lexer_tell(&parser->lexer, name,
			   "a void parameter among others is taken as "
			   "hide(int)");
		all->list[i].type = type_builtin("hide", 4);
	}
}

static int parse_result(struct parser *parser, struct prototype *ret)
{
	struct token at = parser->lexer.token;
	const struct type *type;
	int err = parse_type(parser, &type);

	if (!err && type->kind != TYPE_VOID)
		err = parser_check_complete(parser, &at, type);
	if (err)
		return err;
	ret->result = decay(parser, type);
	ret->failure = type->failure;
	return 0;
}

static void define_function(struct parser *parser, const struct token *name,
			    struct prototype *prototype,
			    const struct parameter_list *all)
{
	struct pool *pool = &parser->into->pool;

	prototype->parameters =
		pool_copy(pool, all->list, all->count * sizeof(*all->list));
	prototype->count = all->count;
	prototype->later = all->later < all->count ? all->later : all->count;
	prototype->variadic = all->variadic;
	definitions_add_function(parser->into, name->text, name->length,
				 pool_copy(pool, prototype,
					   sizeof(*prototype)));
}

int parse_function(struct parser *parser)
{
	struct parameter_list all = { .later = PARAMETERS_MAX };
	struct prototype prototype = { 0 };
	struct token name;
	int err;

	lexer_take_word(&parser->lexer, "function");
	err = parse_result(parser, &prototype);
	name = parser->lexer.token;
	if (!err)
		err = lexer_take(&parser->lexer, TOKEN_NAME,
				 "a function's name");
	if (!err)
		err = parse_parameters(parser, &all);
	if (!err)
		err = lexer_take_end(&parser->lexer);
	if (err)
		return err;
	settle_voids(parser, &name, &all);
	if (parser->highest.number > all.count)
		return lexer_expected(&parser->lexer, &parser->highest,
				      "the number of a parameter");
	define_function(parser, &name, &prototype, &all);
	return 0;
}
