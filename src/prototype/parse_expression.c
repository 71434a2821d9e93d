/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "prototype/parser.h"

const struct expression *parser_new_expression(struct parser *parser,
					       enum expression_kind kind,
					       uint64_t number,
					       const struct expression *limit)
{
	struct expression expression = { kind, number, limit, NULL };

	return pool_copy(&parser->into->pool, &expression, sizeof(expression));
}

bool parser_numbered(const struct token *token, const char *stem, uint64_t *ret)
{
	size_t length = strlen(stem);
	uint64_t number = 0;

	if (token->kind != TOKEN_NAME || token->length <= length ||
	    token->length > length + 4 ||
	    memcmp(token->text, stem, length) != 0)
		return false;
	for (size_t i = length; i < token->length; i++) {
		if (token->text[i] < '0' || token->text[i] > '9')
			return false;
		number = number * 10 + (token->text[i] - '0');
	}
	*ret = number;
	return true;
}

const struct expression *
parser_argument(struct parser *parser, const struct token *at, uint64_t number)
{
	if (number == 0)
		return parser_new_expression(parser, EXPRESSION_RESULT, 0,
					     NULL);
	if (number > parser->highest.number) {
		parser->highest = *at;
		parser->highest.number = number;
	}
	return parser_new_expression(parser, EXPRESSION_ARGUMENT, number, NULL);
}

static int parse_zero(struct parser *parser, const struct expression **ret)
{
	const struct expression *limit = NULL;
	int err = 0;

	lexer_next(&parser->lexer);
	if (parser->lexer.token.kind == '(') {
		lexer_next(&parser->lexer);
		err = parse_expression(parser, &limit);
		if (!err)
			err = lexer_take(&parser->lexer, ')', "')'");
	}
	if (!err)
		*ret = parser_new_expression(parser, EXPRESSION_ZERO, 0, limit);
	return err;
}

static int parse_factor(struct parser *parser, struct expression *ret)
{
	const struct token *token = &parser->lexer.token;
	uint64_t number = 0;

	if (token->kind == TOKEN_NUMBER)
		*ret = (struct expression){ EXPRESSION_NUMBER, token->number,
					    NULL, NULL };
	else if (token_is(token, "retval"))
		*ret = *parser_argument(parser, token, 0);
	else if (parser_numbered(token, "arg", &number))
		*ret = *parser_argument(parser, token, number);
	else if (parser_numbered(token, "elt", &number))
		*ret = (struct expression){ EXPRESSION_ELEMENT, number, NULL,
					    NULL };
	else
		return lexer_expected(
			&parser->lexer, token,
			"a length (a number, argN, eltN, retval or zero)");
	lexer_next(&parser->lexer);
	return 0;
}

/* Numbers are multiplied at once: the sizes of arrays hang on them. */
static const struct expression *multiply(struct parser *parser,
					 const struct expression *product,
					 struct expression factor)
{
	if (product && product->kind == EXPRESSION_NUMBER &&
	    factor.kind == EXPRESSION_NUMBER) {
		if (__builtin_mul_overflow(product->number, factor.number,
					   &factor.number))
			factor.number = UINT64_MAX;
		factor.times = product->times;
	} else {
		factor.times = product;
	}
	return pool_copy(&parser->into->pool, &factor, sizeof(factor));
}

static int parse_product(struct parser *parser, const struct expression **ret)
{
	const struct expression *product = NULL;
	struct expression factor;
	int err;

	for (;;) {
		err = parse_factor(parser, &factor);
		if (err)
			return err;
		product = multiply(parser, product, factor);
		if (parser->lexer.token.kind != '*')
			break;
		lexer_next(&parser->lexer);
	}
	*ret = product;
	return 0;
}

int parse_expression(struct parser *parser, const struct expression **ret)
{
	int err;

	if (!token_is(&parser->lexer.token, "zero"))
		return parse_product(parser, ret);
	if (++parser->depth > TYPE_DEPTH_MAX)
		err = lexer_missing(&parser->lexer,
				    "lengths nested less deeply");
	else
		err = parse_zero(parser, ret);
	parser->depth--;
	return err;
}
