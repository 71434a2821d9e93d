/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "script/reader.h"

/* As in C; a mark that begins another one comes behind it. */
static const struct operator
{
	char marks[3];
	uint8_t level;
	enum script_kind kind;
}
operators[] = {
	{ "||", 1, SCRIPT_OR },         { "&&", 2, SCRIPT_AND },
	{ "|", 3, SCRIPT_BIT_OR },      { "&", 4, SCRIPT_BIT_AND },
	{ "==", 5, SCRIPT_EQUAL },      { "!=", 5, SCRIPT_UNEQUAL },
	{ "<<", 7, SCRIPT_SHIFT_LEFT }, { ">>", 7, SCRIPT_SHIFT_RIGHT },
	{ "<", 6, SCRIPT_LESS },        { ">", 6, SCRIPT_GREATER },
	{ "+", 8, SCRIPT_ADD },         { "-", 8, SCRIPT_SUBTRACT },
	{ "*", 9, SCRIPT_MULTIPLY },    { "/", 9, SCRIPT_DIVIDE },
	{ "%", 9, SCRIPT_REMAINDER },
};

/* Whether the marks come next, without a blank between them. */
static bool is_at(const struct lexer *lexer, const char *marks)
{
	if (lexer->token.kind != marks[0])
		return false;
	return !marks[1] ||
	       (lexer->at < lexer->line_end && *lexer->at == marks[1]);
}

static void take(struct lexer *lexer, const char *marks)
{
	lexer_next(lexer);
	if (marks[1])
		lexer_next(lexer);
}

static const struct operator* next_operator(const struct lexer *lexer)
{
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (is_at(lexer, operators[i].marks))
			return &operators[i];
	return NULL;
}

int script_new_node(struct script_reader *reader,
		    const struct script_node *node,
		    const struct script_node **ret)
{
	struct lexer *lexer = reader->lexer;

	if (reader->script->node_count == SCRIPT_NODES_MAX)
		return lexer_missing(lexer, "a shorter script");
	reader->script->node_count++;
	*ret = pool_copy(reader->pool, node, sizeof(*node));
	return 0;
}

/* Operators of at least that level, from left to right. */
static int parse_binary(struct script_reader *reader, unsigned level,
			const struct script_node **ret)
{
	const struct operator* operator;
	const struct script_node *right;
	int err = parse_script_term(reader, ret);

	while (!err && (operator= next_operator(reader->lexer)) &&
		       operator->level >= level) {
		struct script_node node = { .kind = operator->kind };

		take(reader->lexer, operator->marks);
		err = parse_binary(reader, operator->level + 1, &right);
		node.operands[0] = *ret;
		node.operands[1] = right;
		if (!err)
			err = script_new_node(reader, &node, ret);
	}
	return err;
}

/* What follows the condition: "? a : b", "?: b", or nothing. */
static int parse_choice(struct script_reader *reader,
			const struct script_node **ret)
{
	struct lexer *lexer = reader->lexer;
	struct script_node node = { SCRIPT_ELSE, 0, { *ret } };
	int err;

	if (is_at(lexer, "?:")) {
		take(lexer, "?:");
		err = parse_script_value(reader, &node.operands[1]);
	} else if (is_at(lexer, "?")) {
		node.kind = SCRIPT_CHOOSE;
		take(lexer, "?");
		err = parse_script_value(reader, &node.operands[1]);
		if (!err)
			err = lexer_take(lexer, ':', "':'");
		if (!err)
			err = parse_script_value(reader, &node.operands[2]);
	} else {
		return 0;
	}
	return err ? err : script_new_node(reader, &node, ret);
}

int parse_script_value(struct script_reader *reader,
		       const struct script_node **ret)
{
	struct lexer *lexer = reader->lexer;
	int err;

	if (++reader->depth > SCRIPT_DEPTH_MAX)
		err = lexer_missing(lexer, "values nested less deeply");
	else
		err = parse_binary(reader, 0, ret);
	if (!err)
		err = parse_choice(reader, ret);
	reader->depth--;
	return err;
}
