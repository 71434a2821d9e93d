/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "script/reader.h"

static const struct read {
	const char *name;
	enum script_kind kind;
	unsigned bytes;
} reads[] = {
	{ "u8", SCRIPT_READ, 1 },         { "u16", SCRIPT_READ, 2 },
	{ "u32", SCRIPT_READ, 4 },        { "u64", SCRIPT_READ, 8 },
	{ "i8", SCRIPT_READ_SIGNED, 1 },  { "i16", SCRIPT_READ_SIGNED, 2 },
	{ "i32", SCRIPT_READ_SIGNED, 4 },
};

static const struct read *read_named(const struct token *token)
{
	for (size_t i = 0; i < ARRAY_SIZE(reads); i++)
		if (token_is(token, reads[i].name))
			return &reads[i];
	return NULL;
}

bool script_is_reserved(const struct token *name)
{
	static const char *const words[] = { "thread", "tls",  "find",
					     "with",   "text", "characters" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (token_is(name, words[i]))
			return true;
	return read_named(name) ||
	       script_decoder_named(name->text, name->length) != SCRIPT_NONE;
}

/* The values of a list, up to its closing parenthesis. */
static int parse_operands(struct script_reader *reader, unsigned count,
			  struct script_node *node)
{
	struct lexer *lexer = reader->lexer;
	int err = lexer_take(lexer, '(', "'('");

	for (unsigned i = 0; i < count && !err; i++) {
		if (i > 0)
			err = lexer_take(lexer, ',', "','");
		if (!err)
			err = parse_script_value(reader, &node->operands[i]);
	}
	return err ? err : lexer_take(lexer, ')', "')'");
}

/* The number of an object, which is added when it is new. */
static int object_number(struct script_reader *reader, const struct token *name,
			 bool per_thread, uint64_t *ret)
{
	struct script *script = reader->script;
	size_t i;

	for (i = 0; i < script->object_count; i++)
		if (token_is(name, script->objects[i].name) &&
		    script->objects[i].per_thread == per_thread)
			break;
	if (i == SCRIPT_OBJECTS_MAX)
		return lexer_expected(reader->lexer, name,
				      "fewer variables of the interpreter");
	if (i == script->object_count)
		script->objects[script->object_count++] = (struct script_object){
			pool_strndup(reader->pool, name->text, name->length),
			per_thread,
		};
	*ret = i;
	return 0;
}

static int parse_object(struct script_reader *reader, bool per_thread,
			struct script_node *node)
{
	struct lexer *lexer = reader->lexer;
	struct token name = lexer->token;
	int err = lexer_take(lexer, TOKEN_NAME,
			     "the name of a variable of the interpreter");

	node->kind = SCRIPT_OBJECT;
	return err ? err :
		     object_number(reader, &name, per_thread, &node->number);
}

static int parse_tls(struct script_reader *reader, struct script_node *node)
{
	struct lexer *lexer = reader->lexer;
	int err;

	lexer_next(lexer);
	err = lexer_take(lexer, '(', "'('");
	if (!err)
		err = parse_object(reader, true, node);
	return err ? err : lexer_take(lexer, ')', "')'");
}

static int parse_read(struct script_reader *reader, const struct read *read,
		      struct script_node *node)
{
	struct lexer *lexer = reader->lexer;
	int err;

	node->kind = read->kind;
	node->number = read->bytes;
	lexer_next(lexer);
	err = lexer_take(lexer, '[', "'['");
	if (!err)
		err = parse_script_value(reader, &node->operands[0]);
	return err ? err : lexer_take(lexer, ']', "']'");
}

/* The name that is before a '=', and the value behind it. */
static int parse_local(struct script_reader *reader, struct token *name,
		       const struct script_node **ret)
{
	struct lexer *lexer = reader->lexer;
	int err = lexer_take(lexer, '(', "'('");

	*name = lexer->token;
	if (!err && reader->local_count == SCRIPT_LOCALS_MAX)
		err = lexer_expected(lexer, name, "names nested less deeply");
	if (!err && (name->kind != TOKEN_NAME || script_is_reserved(name)))
		err = lexer_expected(lexer, name, "a name for the value");
	if (err)
		return err;
	lexer_next(lexer);
	err = lexer_take(lexer, '=', "'='");
	return err ? err : parse_script_value(reader, ret);
}

/*
 * find(NAME = first, next, condition) and with(NAME = value, result): what
 * comes behind the first knows the name.
 */
static int parse_named(struct script_reader *reader, enum script_kind kind,
		       struct script_node *node)
{
	struct lexer *lexer = reader->lexer;
	unsigned count = kind == SCRIPT_FIND ? 3 : 2;
	struct token name;
	int err;

	node->kind = kind;
	node->number = SCRIPT_ITEMS_MAX + reader->local_count;
	lexer_next(lexer);
	err = parse_local(reader, &name, &node->operands[0]);
	if (err)
		return err;
	reader->locals[reader->local_count++] = name;
	for (unsigned i = 1; i < count && !err; i++) {
		err = lexer_take(lexer, ',', "','");
		if (!err)
			err = parse_script_value(reader, &node->operands[i]);
	}
	reader->local_count--;
	return err ? err : lexer_take(lexer, ')', "')'");
}

static bool same_name(const struct token *a, const struct token *b)
{
	return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

static int parse_variable(struct script_reader *reader,
			  struct script_node *node)
{
	struct lexer *lexer = reader->lexer;
	const struct script *script = reader->script;
	struct token name = lexer->token;
	size_t i;

	node->kind = SCRIPT_VARIABLE;
	for (i = reader->local_count; i-- > 0;)
		if (same_name(&name, &reader->locals[i])) {
			node->number = SCRIPT_ITEMS_MAX + i;
			lexer_next(lexer);
			return 0;
		}
	for (i = 0; i < script->item_count; i++)
		if (token_is(&name, script->items[i].name) &&
		    i != script->file && i != script->outer) {
			node->number = i;
			lexer_next(lexer);
			return 0;
		}
	return lexer_expected(lexer, &name,
			      "a name that was given to a value before");
}

static int parse_word(struct script_reader *reader, struct script_node *node)
{
	struct lexer *lexer = reader->lexer;
	const struct token *token = &lexer->token;
	const struct read *read = read_named(token);
	size_t decoder = script_decoder_named(token->text, token->length);

	if (read)
		return parse_read(reader, read, node);
	if (token_is(token, "tls"))
		return parse_tls(reader, node);
	if (token_is(token, "find"))
		return parse_named(reader, SCRIPT_FIND, node);
	if (token_is(token, "with"))
		return parse_named(reader, SCRIPT_WITH, node);
	if (token_is(token, "thread")) {
		node->kind = SCRIPT_POINTER;
		lexer_next(lexer);
		return 0;
	}
	if (decoder == SCRIPT_NONE)
		return parse_variable(reader, node);
	node->kind = SCRIPT_DECODE;
	node->number = decoder;
	lexer_next(lexer);
	return parse_operands(reader, script_decoder(decoder)->operands, node);
}

static int parse_unary(struct script_reader *reader, enum script_kind kind,
		       struct script_node *node)
{
	struct lexer *lexer = reader->lexer;
	int err;

	node->kind = kind;
	lexer_next(lexer);
	if (++reader->depth > SCRIPT_DEPTH_MAX)
		err = lexer_missing(lexer, "values nested less deeply");
	else
		err = parse_script_term(reader, &node->operands[0]);
	reader->depth--;
	return err;
}

static int parse_group(struct script_reader *reader,
		       const struct script_node **ret)
{
	int err;

	lexer_next(reader->lexer);
	err = parse_script_value(reader, ret);
	return err ? err : lexer_take(reader->lexer, ')', "')'");
}

int parse_script_term(struct script_reader *reader,
		      const struct script_node **ret)
{
	struct lexer *lexer = reader->lexer;
	const struct token *token = &lexer->token;
	struct script_node node = { .number = token->number };
	int err = 0;

	if (token->kind == '(')
		return parse_group(reader, ret);
	if (token->kind == TOKEN_NAME) {
		err = parse_word(reader, &node);
	} else if (token->kind == '!' || token->kind == '-') {
		err = parse_unary(reader,
				  token->kind == '!' ? SCRIPT_NOT :
						       SCRIPT_NEGATE,
				  &node);
	} else if (token->kind == '&') {
		lexer_next(lexer);
		err = parse_object(reader, false, &node);
	} else {
		err = lexer_take(lexer, TOKEN_NUMBER, "a value");
	}
	return err ? err : script_new_node(reader, &node, ret);
}

int parse_script_text(struct script_reader *reader,
		      const struct script_node **ret)
{
	struct lexer *lexer = reader->lexer;
	const struct token *token = &lexer->token;
	struct script_node node = { .kind = SCRIPT_TEXT };
	int err;

	if (token_is(token, "characters")) {
		node.kind = SCRIPT_CHARACTERS;
		lexer_next(lexer);
		err = parse_operands(reader, 3, &node);
		return err ? err : script_new_node(reader, &node, ret);
	}
	if (!token_is(token, "text"))
		return lexer_expected(lexer, token,
				      "text(...) or characters(...)");
	lexer_next(lexer);
	err = lexer_take(lexer, '(', "'('");
	if (!err)
		err = parse_script_value(reader, &node.operands[0]);
	if (!err && token->kind == ',') {
		lexer_next(lexer);
		err = parse_script_value(reader, &node.operands[1]);
	}
	if (!err)
		err = lexer_take(lexer, ')', "')'");
	return err ? err : script_new_node(reader, &node, ret);
}
