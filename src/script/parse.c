/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "script/parse.h"

#include <errno.h>
#include <string.h>

/* Which of its items has a meaning of its own, or NULL. */
static size_t *special_item(struct script *script, const struct token *name)
{
	if (token_is(name, "valid"))
		return &script->valid;
	if (token_is(name, "frame"))
		return &script->frame;
	if (token_is(name, "outer"))
		return &script->outer;
	if (token_is(name, "file"))
		return &script->file;
	if (token_is(name, "line"))
		return &script->line;
	return NULL;
}

static bool is_taken(const struct script *script, const struct token *name)
{
	for (size_t i = 0; i < script->item_count; i++)
		if (token_is(name, script->items[i].name))
			return true;
	return false;
}

/* The file's own; what it has imported is another's. */
static struct script *own_script(struct definitions *into)
{
	struct script *script = into->own_script;

	if (script)
		return script;
	script = pool_alloc(&into->pool, sizeof(*script));
	script->valid = SCRIPT_NONE;
	script->frame = SCRIPT_NONE;
	script->outer = SCRIPT_NONE;
	script->file = SCRIPT_NONE;
	script->line = SCRIPT_NONE;
	into->own_script = script;
	into->script = script;
	return script;
}

static int check_name(struct parser *parser, const struct script *script,
		      const struct token *name)
{
	if (name->kind != TOKEN_NAME)
		return lexer_expected(&parser->lexer, name,
				      "a name for the value");
	if (is_taken(script, name) || script_is_reserved(name))
		return lexer_expected(&parser->lexer, name,
				      "a name that is not taken");
	if (script->item_count == SCRIPT_ITEMS_MAX)
		return lexer_expected(&parser->lexer, name,
				      "no more script items");
	return 0;
}

static void add_item(struct parser *parser, struct script *script,
		     const struct token *name, const struct script_node *node)
{
	size_t *special = special_item(script, name);

	if (special)
		*special = script->item_count;
	script->items[script->item_count++] = (struct script_item){
		.name = pool_strndup(&parser->into->pool, name->text,
				     name->length),
		.node = node,
	};
}

int parse_script(struct parser *parser)
{
	struct script_reader reader = { .parser = parser };
	const struct script_node *node;
	struct token name;
	int err;

	lexer_next(&parser->lexer);
	name = parser->lexer.token;
	reader.script = own_script(parser->into);
	err = check_name(parser, reader.script, &name);
	if (err)
		return err;
	lexer_next(&parser->lexer);
	err = lexer_take(&parser->lexer, '=', "'='");
	if (!err && token_is(&name, "file"))
		err = parse_script_text(&reader, &node);
	else if (!err)
		err = parse_script_value(&reader, &node);
	if (!err)
		err = parser_take_end(parser);
	if (!err)
		add_item(parser, reader.script, &name, node);
	return err;
}
