/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "base/strbuf.h"
#include "heap/family_line.h"

#define PARAMETERS_MAX 32
#define HANDLES_MAX    16

static const char *const role_names[ROLE_MAX] = {
	[ROLE_OTHER] = "_",
	[ROLE_HANDLE] = "handle",
	[ROLE_OLD] = "old",
	[ROLE_SIZE] = "size",
	[ROLE_OLD_SIZE] = "old_size",
	[ROLE_COUNT] = "count",
	[ROLE_ALIGNMENT] = "alignment",
	[ROLE_END] = "end",
	[ROLE_BY] = "by",
};

#define BIT(role) (1u << (role))

static const struct family_act_rule act_rules[] = {
	{ "acquire", FAMILY_ACQUIRE,
	  BIT(ROLE_HANDLE) | BIT(ROLE_SIZE) | BIT(ROLE_COUNT) |
		  BIT(ROLE_ALIGNMENT) },
	{ "release", FAMILY_RELEASE,
	  BIT(ROLE_HANDLE) | BIT(ROLE_SIZE) | BIT(ROLE_ALIGNMENT) },
	{ "resize", FAMILY_RESIZE,
	  BIT(ROLE_HANDLE) | BIT(ROLE_OLD) | BIT(ROLE_SIZE) |
		  BIT(ROLE_OLD_SIZE) | BIT(ROLE_COUNT) | BIT(ROLE_ALIGNMENT) },
	{ "replace", FAMILY_REPLACE, BIT(ROLE_HANDLE) | BIT(ROLE_SIZE) },
	{ "move", FAMILY_MOVE, BIT(ROLE_END) | BIT(ROLE_BY) | BIT(ROLE_OLD) },
};

/* The width in bytes; 0 (a pointer's) for long, and when nothing is said. */
static uint8_t take_width(struct family_parser *parser, bool *said)
{
	*said = true;
	if (lexer_take_word(&parser->lexer, "int"))
		return 4;
	if (!lexer_take_word(&parser->lexer, "long"))
		*said = false;
	return 0;
}

static int take_role(struct family_parser *parser, enum family_role *ret)
{
	for (int role = 0; role < ROLE_MAX; role++) {
		if (lexer_take_word(&parser->lexer, role_names[role])) {
			*ret = role;
			return 0;
		}
	}
	return lexer_missing(&parser->lexer,
			     "handle, size or another role, or _");
}

static int set_role(struct family_parser *parser, struct family_line *line,
		    const struct token *at, enum family_role role,
		    const struct operand *operand)
{
	if (role == ROLE_OTHER)
		return 0;
	if (!(line->rule->roles & BIT(role)))
		return lexer_expected(&parser->lexer, at,
				      "a role that fits the act, or _");
	if (line->roles[role].kind != OPERAND_NONE)
		return lexer_expected(&parser->lexer, at,
				      "each role no more than once");
	line->roles[role] = *operand;
	return 0;
}

/* [NUMBER]: handles are stored in a row. */
static int parse_row(struct family_parser *parser, struct operand *operand)
{
	struct token at;
	uint64_t count;
	int err;

	lexer_next(&parser->lexer);
	at = parser->lexer.token;
	err = family_take_number(parser, "how many there are", &count);
	if (!err && (!count || count > HANDLES_MAX))
		err = lexer_expected(&parser->lexer, &at, "1 to 16");
	if (!err)
		err = lexer_take(&parser->lexer, ']', "']'");
	if (err)
		return err;
	operand->kind = OPERAND_STORED;
	operand->count = count;
	return 0;
}

/* NUMBER[|NUMBER...]: only such calls are meant. */
static int parse_choice(struct family_parser *parser, struct family_line *line,
			const struct operand *operand)
{
	struct family_choice *choice = &line->choice;
	int err;

	if (choice->count)
		return lexer_missing(&parser->lexer,
				     "numbers for one parameter only");
	choice->index = operand->index;
	choice->width = operand->width;
	for (;;) {
		if (choice->count == FAMILY_CHOICES_MAX)
			return lexer_missing(&parser->lexer, "fewer numbers");
		err = family_take_number(parser, "a number",
					 &choice->numbers[choice->count]);
		choice->count += !err;
		if (err || parser->lexer.token.kind != '|')
			return err;
		lexer_next(&parser->lexer);
	}
}

static int parse_parameter(struct family_parser *parser,
			   struct family_line *line)
{
	struct operand operand = { .kind = OPERAND_ARGUMENT,
				   .index = line->parameters };
	struct token at;
	enum family_role role = ROLE_OTHER;
	bool typed;
	int err = 0;

	if (line->parameters++ == PARAMETERS_MAX)
		return lexer_missing(&parser->lexer, "fewer parameters");
	operand.width = take_width(parser, &typed);
	if (parser->lexer.token.kind == TOKEN_NUMBER)
		return parse_choice(parser, line, &operand);
	if (parser->lexer.token.kind == '*') {
		lexer_next(&parser->lexer);
		operand.kind = OPERAND_STORED;
		operand.count = 1;
	}
	at = parser->lexer.token;
	err = take_role(parser, &role);
	if (!err && parser->lexer.token.kind == '[' &&
	    operand.kind == OPERAND_ARGUMENT)
		err = parse_row(parser, &operand);
	if (!err && operand.kind == OPERAND_STORED && role != ROLE_HANDLE &&
	    role != ROLE_OTHER)
		err = lexer_expected(&parser->lexer, &at,
				     "handle, which alone is "
				     "read from memory");
	operand.is_signed = role == ROLE_BY;
	return err ? err : set_role(parser, line, &at, role, &operand);
}

static int parse_parameters(struct family_parser *parser,
			    struct family_line *line)
{
	int err;

	if (parser->lexer.token.kind != '(')
		return 0;
	lexer_next(&parser->lexer);
	if (parser->lexer.token.kind == ')') {
		lexer_next(&parser->lexer);
		return 0;
	}
	for (;;) {
		err = parse_parameter(parser, line);
		if (err || parser->lexer.token.kind != ',')
			break;
		lexer_next(&parser->lexer);
	}
	return err ? err : lexer_take(&parser->lexer, ')', "',' or ')'");
}

/* >= N, > N, != N, == N, N: what success looks like */
static int parse_compare(struct family_parser *parser,
			 struct family_success *success)
{
	int first = parser->lexer.token.kind;
	bool negative = false;
	struct token at;
	uint64_t number;

	success->compare = COMPARE_EQUAL;
	if (first == '>' || first == '!' || first == '=') {
		lexer_next(&parser->lexer);
		success->compare = first == '!' ? COMPARE_NOT_EQUAL :
				   first == '=' ? COMPARE_EQUAL :
						  COMPARE_GREATER;
		if (parser->lexer.token.kind == '=') {
			lexer_next(&parser->lexer);
			if (first == '>')
				success->compare = COMPARE_AT_LEAST;
		} else if (first != '>') {
			return lexer_missing(&parser->lexer, "'='");
		}
	}
	if (parser->lexer.token.kind == '-') {
		negative = true;
		lexer_next(&parser->lexer);
	}
	at = parser->lexer.token;
	if (family_take_number(parser, "what success looks like", &number))
		return -EINVAL;
	if (number > INT64_MAX)
		return lexer_expected(&parser->lexer, &at, "a smaller number");
	success->number = negative ? -(int64_t)number : (int64_t)number;
	return 0;
}

/* Of a pointer nothing has to be said: null is none. */
static int parse_result_role(struct family_parser *parser,
			     struct family_line *line, uint8_t width)
{
	struct operand operand = { .kind = OPERAND_RESULT, .width = width };
	struct token at = parser->lexer.token;
	enum family_role role = ROLE_OTHER;
	int kind, err;

	err = take_role(parser, &role);
	if (!err && role != ROLE_HANDLE && role != ROLE_OLD)
		err = lexer_expected(&parser->lexer, &at, "'handle'");
	if (!err)
		err = set_role(parser, line, &at, role, &operand);
	if (err)
		return err;
	line->success.width = width;
	kind = parser->lexer.token.kind;
	if (kind == '>' || kind == '!' || kind == '=')
		return parse_compare(parser, &line->success);
	if (width == 4)
		return lexer_missing(&parser->lexer,
				     "when it has succeeded (>= 0)");
	line->success.compare = COMPARE_NOT_EQUAL;
	return 0;
}

/* = [int|long] handle [COMPARE], = [int|long] COMPARE, or = any */
static int parse_result(struct family_parser *parser, struct family_line *line)
{
	uint8_t width;
	bool typed;

	if (parser->lexer.token.kind != '=')
		return 0;
	lexer_next(&parser->lexer);
	if (lexer_take_word(&parser->lexer, "any"))
		return 0;
	width = take_width(parser, &typed);
	if (parser->lexer.token.kind == TOKEN_NAME)
		return parse_result_role(parser, line, width);
	line->success.width = typed ? width : 4;
	return parse_compare(parser, &line->success);
}

/* , size NUMBER: all of them are of that size. */
static int parse_constant(struct family_parser *parser,
			  struct family_line *line)
{
	struct operand operand = { .kind = OPERAND_CONSTANT };
	struct token at;
	int err;

	if (parser->lexer.token.kind != ',')
		return 0;
	lexer_next(&parser->lexer);
	at = parser->lexer.token;
	if (!lexer_take_word(&parser->lexer, "size"))
		return lexer_expected(&parser->lexer, &at, "'size'");
	err = family_take_number(parser, "a number of bytes", &operand.number);
	return err ? err : set_role(parser, line, &at, ROLE_SIZE, &operand);
}

static struct family_function function_of(const struct family_line *line)
{
	struct family_function function = {
		.act = line->rule->act,
		.handle = line->roles[ROLE_HANDLE],
		.old = line->roles[ROLE_OLD],
		.size = line->roles[ROLE_SIZE],
		.old_size = line->roles[ROLE_OLD_SIZE],
		.success = line->success,
		.choice = line->choice,
	};

	if (family_line_has(line, ROLE_COUNT)) {
		function.size.kind = OPERAND_PRODUCT;
		function.size.second = line->roles[ROLE_COUNT].index;
	}
	if (function.act == FAMILY_MOVE) {
		function.handle = line->roles[ROLE_END];
		function.size = line->roles[ROLE_BY];
	}
	return function;
}

static void add_function(struct family_parser *parser,
			 const struct family_line *line)
{
	struct family_function function = function_of(line);
	const struct token *name = &line->name;
	struct strbuf full = { 0 };

	if (function.handle.width == 4)
		parser->draft->family.null_is_nothing = false;
	function.form = parser->form;
	families_add(parser->families, parser->draft, &function, name->text,
		     name->length);
	for (unsigned i = 0; i < parser->prefix_count; i++) {
		strbuf_clear(&full);
		strbuf_add(&full, parser->prefixes[i].text,
			   parser->prefixes[i].length);
		strbuf_add(&full, name->text, name->length);
		families_add(parser->families, parser->draft, &function,
			     full.text, full.length);
	}
	strbuf_fini(&full);
}

static int take_act(struct family_parser *parser, struct family_line *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(act_rules); i++) {
		if (lexer_take_word(&parser->lexer, act_rules[i].name)) {
			line->rule = &act_rules[i];
			return 0;
		}
	}
	return lexer_missing(&parser->lexer,
			     "acquire, release, resize, replace, move, "
			     "prefixes, form or family");
}

int family_parse_function(struct family_parser *parser)
{
	struct family_line line = { 0 };
	const char *why;
	int err = take_act(parser, &line);

	if (!err)
		err = family_take_name(parser, "a function's name", &line.name);
	if (!err)
		err = parse_parameters(parser, &line);
	if (!err)
		err = parse_result(parser, &line);
	if (!err)
		err = parse_constant(parser, &line);
	if (!err)
		err = family_take_end(parser, "the end of the line");
	if (err)
		return err;
	why = family_line_problem(&line, &parser->draft->family);
	if (why)
		return family_refused(parser, &line.name, why);
	add_function(parser, &line);
	return 0;
}
