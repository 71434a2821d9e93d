/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/size_unit.h"
#include "base/xalloc.h"
#include "filter/predicate_node.h"

/*
 *	or      = and { "||" and }
 *	and     = not { "&&" not }
 *	not     = "!" not | "every" N | "first" N | compared
 *	compared = bits [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) bits ]
 *	bits    = value { "&" value }
 *	value   = "(" or ")" | number | name
 */

#define DEPTH_MAX 32
#define NOTHING   UINT_MAX

struct predicate_parser {
	struct predicate *predicate;
	const char *text, *at;
	unsigned depth;
	char *message; /* of the first mistake … */
	size_t column;
};

static unsigned fail(struct predicate_parser *parser, const char *at,
		     const char *message)
{
	if (!parser->message) {
		parser->message = xstrdup(message);
		parser->column = at - parser->text + 1;
	}
	return NOTHING;
}

static void skip_space(struct predicate_parser *parser)
{
	while (isspace((unsigned char)*parser->at))
		parser->at++;
}

static bool take(struct predicate_parser *parser, const char *mark)
{
	skip_space(parser);
	if (strncmp(parser->at, mark, strlen(mark)) != 0)
		return false;
	parser->at += strlen(mark);
	return true;
}

static unsigned add(struct predicate_parser *parser, enum node_kind kind,
		    unsigned left, unsigned right)
{
	struct predicate *predicate = parser->predicate;
	struct node *node = &predicate->nodes[predicate->count];

	if (left == NOTHING || right == NOTHING)
		return NOTHING;
	if (predicate->count == PREDICATE_NODES)
		return fail(parser, parser->at, "this is too long");
	*node = (struct node){ .kind = kind, .left = left, .right = right };
	predicate->counts |= kind == NODE_EVERY || kind == NODE_FIRST;
	predicate->needs_return |= kind == NODE_RESULT || kind == NODE_ERROR ||
				   kind == NODE_DURATION;
	return predicate->count++;
}

static struct node *node_at(const struct predicate_parser *parser,
			    unsigned index)
{
	return &parser->predicate->nodes[index];
}

/* ---- numbers ---- */

static const struct {
	const char *name;
	double factor;
} units[] = {
	{ "", 1 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
};

static size_t word_length(const char *at)
{
	size_t n = 0;

	while (isalnum((unsigned char)at[n]) || at[n] == '_')
		n++;
	return n;
}

static bool take_unit(struct predicate_parser *parser, double *ret)
{
	size_t length = word_length(parser->at);

	*ret = length == 1 ? size_unit(*parser->at) : 0;
	for (size_t i = 0; !*ret && i < ARRAY_SIZE(units); i++)
		if (strlen(units[i].name) == length &&
		    strncmp(units[i].name, parser->at, length) == 0)
			*ret = units[i].factor;
	parser->at += *ret ? length : 0;
	return *ret;
}

static bool parse_fraction(struct predicate_parser *parser, uint64_t *ret)
{
	double number, factor;
	char *end;

	number = strtod(parser->at, &end);
	parser->at = end;
	if (!take_unit(parser, &factor) || number * factor >= 18e18)
		return false;
	*ret = (uint64_t)(number * factor);
	return true;
}

/* A unit is no digit of the number. */
static bool parse_magnitude(struct predicate_parser *parser, uint64_t *ret)
{
	const char *begin = parser->at;
	double factor;
	char *end;

	if (begin[strspn(begin, "0123456789")] == '.')
		return parse_fraction(parser, ret);
	errno = 0;
	*ret = strtoull(begin, &end, 0);
	parser->at = end;
	if (errno || !take_unit(parser, &factor))
		return false;
	return !__builtin_mul_overflow(*ret, (uint64_t)factor, ret);
}

static unsigned parse_number(struct predicate_parser *parser)
{
	const char *begin = parser->at;
	const bool negative = take(parser, "-");
	uint64_t magnitude = 0;
	unsigned node;

	skip_space(parser);
	if (!isdigit((unsigned char)*parser->at) ||
	    !parse_magnitude(parser, &magnitude))
		return fail(parser, begin,
			    "this is no number; units are K, M, G, ns, us, ms "
			    "and s");
	node = add(parser, NODE_NUMBER, 0, 0);
	if (node != NOTHING)
		node_at(parser, node)->number = (struct predicate_number){
			negative ? -magnitude : magnitude, negative
		};
	return node;
}

/* ---- names ---- */

#define ERROR_MAX 4096

static bool find_error(const char *name, size_t length, uint64_t *ret)
{
	for (int error = 1; error < ERROR_MAX; error++) {
		const char *known = strerrorname_np(error);

		if (known && strlen(known) == length &&
		    !strncmp(known, name, length)) {
			*ret = error;
			return true;
		}
	}
	return false;
}

static bool is_word(const char *name, size_t length, const char *word)
{
	return strlen(word) == length && !strncmp(name, word, length);
}

/* arg1 is the first one. */
static bool is_argument(const char *name, size_t length, uint64_t *ret)
{
	char *end;

	if (length < 4 || strncmp(name, "arg", 3) != 0 ||
	    !isdigit((unsigned char)name[3]))
		return false;
	*ret = strtoull(name + 3, &end, 10) - 1;
	return end == name + length;
}

static unsigned parse_name(struct predicate_parser *parser)
{
	const char *name = parser->at;
	const size_t length = word_length(name);
	enum node_kind kind = NODE_NAMED;
	uint64_t number = 0;
	unsigned node;

	parser->at += length;
	if (is_word(name, length, "ret"))
		kind = NODE_RESULT;
	else if (is_word(name, length, "errno"))
		kind = NODE_ERROR;
	else if (is_word(name, length, "time"))
		kind = NODE_DURATION;
	else if (is_argument(name, length, &number))
		kind = NODE_ARGUMENT;
	else if (find_error(name, length, &number))
		kind = NODE_NUMBER;
	if (kind == NODE_ARGUMENT && number >= 64)
		return fail(parser, name, "arguments are arg1 to arg64");
	node = add(parser, kind, 0, 0);
	if (node == NOTHING)
		return node;
	node_at(parser, node)->number.value = number;
	if (kind == NODE_NAMED)
		node_at(parser, node)->name = xstrndup(name, length);
	return node;
}

/* ---- expressions ---- */

static unsigned parse_or(struct predicate_parser *parser);

static unsigned parse_value(struct predicate_parser *parser)
{
	unsigned node;

	skip_space(parser);
	if (take(parser, "(")) {
		if (parser->depth++ == DEPTH_MAX)
			return fail(parser, parser->at, "too many parentheses");
		node = parse_or(parser);
		parser->depth--;
		if (node != NOTHING && !take(parser, ")"))
			return fail(parser, parser->at, "')' is missing");
		return node;
	}
	if (isalpha((unsigned char)*parser->at) || *parser->at == '_')
		return parse_name(parser);
	if (isdigit((unsigned char)*parser->at) || *parser->at == '-')
		return parse_number(parser);
	return fail(parser, parser->at,
		    "a number, an argument, ret, errno or time is missing");
}

static bool take_bits(struct predicate_parser *parser)
{
	skip_space(parser);
	return strncmp(parser->at, "&&", 2) != 0 && take(parser, "&");
}

static unsigned parse_bits(struct predicate_parser *parser)
{
	unsigned node = parse_value(parser);

	while (node != NOTHING && take_bits(parser))
		node = add(parser, NODE_BITS, node, parse_value(parser));
	return node;
}

/* In the order in which they must be looked for. */
static const struct {
	const char *mark;
	enum node_kind kind;
	bool turned;
} comparisons[] = {
	{ "==", NODE_EQUAL, false },   { "!=", NODE_NOT_EQUAL, false },
	{ "<=", NODE_AT_MOST, false }, { ">=", NODE_AT_MOST, true },
	{ "<", NODE_LESS, false },     { ">", NODE_LESS, true },
};

static unsigned parse_compared(struct predicate_parser *parser)
{
	unsigned left = parse_bits(parser), right;

	for (size_t i = 0; left != NOTHING && i < ARRAY_SIZE(comparisons);
	     i++) {
		if (!take(parser, comparisons[i].mark))
			continue;
		right = parse_bits(parser);
		return comparisons[i].turned ?
			       add(parser, comparisons[i].kind, right, left) :
			       add(parser, comparisons[i].kind, left, right);
	}
	return left;
}

static bool take_word(struct predicate_parser *parser, const char *word)
{
	skip_space(parser);
	return is_word(parser->at, word_length(parser->at), word) &&
	       take(parser, word);
}

static unsigned parse_count(struct predicate_parser *parser,
			    enum node_kind kind)
{
	uint64_t number = 0;
	const char *begin;
	unsigned node;

	skip_space(parser);
	begin = parser->at;
	if (!isdigit((unsigned char)*begin) ||
	    !parse_magnitude(parser, &number) || !number)
		return fail(parser, begin, "how many? A number is missing");
	node = add(parser, kind, 0, 0);
	if (node != NOTHING)
		node_at(parser, node)->number.value = number;
	return node;
}

static unsigned parse_not(struct predicate_parser *parser)
{
	unsigned node;

	if (take_word(parser, "every"))
		return parse_count(parser, NODE_EVERY);
	if (take_word(parser, "first"))
		return parse_count(parser, NODE_FIRST);
	if (!take(parser, "!"))
		return parse_compared(parser);
	if (parser->depth++ == DEPTH_MAX)
		return fail(parser, parser->at, "this is nested too deep");
	node = parse_not(parser);
	parser->depth--;
	return add(parser, NODE_NOT, node, 0);
}

static unsigned parse_and(struct predicate_parser *parser)
{
	unsigned node = parse_not(parser);

	while (node != NOTHING && take(parser, "&&"))
		node = add(parser, NODE_AND, node, parse_not(parser));
	return node;
}

static unsigned parse_or(struct predicate_parser *parser)
{
	unsigned node = parse_and(parser);

	while (node != NOTHING && take(parser, "||"))
		node = add(parser, NODE_OR, node, parse_and(parser));
	return node;
}

int predicate_add(struct predicate **predicate, const char *text,
		  char **message_ret, size_t *column_ret)
{
	const bool is_first = !*predicate;
	struct predicate_parser parser = { .text = text, .at = text };
	unsigned root;

	if (is_first)
		*predicate = xcalloc(1, sizeof(**predicate));
	parser.predicate = *predicate;
	root = parse_or(&parser);
	skip_space(&parser);
	if (root != NOTHING && *parser.at)
		root = fail(&parser, parser.at,
			    "a comparison, && or || is missing before this");
	if (root != NOTHING && !is_first)
		root = add(&parser, NODE_AND, (*predicate)->root, root);
	if (root == NOTHING) {
		*message_ret = parser.message;
		*column_ret = parser.column;
		return -EINVAL;
	}
	(*predicate)->root = root;
	return 0;
}
