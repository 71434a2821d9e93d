/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "script/parse.h"

#include <errno.h>
#include <string.h>

#include "script/reader.h"

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
	if (token_is(name, "function"))
		return &script->function;
	return NULL;
}

static bool is_taken(const struct script *script, const struct token *name)
{
	for (size_t i = 0; i < script->item_count; i++)
		if (token_is(name, script->items[i].name))
			return true;
	return false;
}

static struct script *new_script(struct pool *pool)
{
	struct script *script = pool_alloc(pool, sizeof(*script));

	script->valid = SCRIPT_NONE;
	script->frame = SCRIPT_NONE;
	script->outer = SCRIPT_NONE;
	script->file = SCRIPT_NONE;
	script->line = SCRIPT_NONE;
	script->function = SCRIPT_NONE;
	return script;
}

static int check_name(struct lexer *lexer, const struct script *script,
		      const struct token *name)
{
	if (name->kind != TOKEN_NAME)
		return lexer_expected(lexer, name, "a name for the value");
	if (is_taken(script, name) || script_is_reserved(name))
		return lexer_expected(lexer, name, "a name that is not taken");
	if (script->item_count == SCRIPT_ITEMS_MAX)
		return lexer_expected(lexer, name, "no more script items");
	return 0;
}

static void add_item(const struct script_reader *reader,
		     const struct token *name, const struct script_node *node)
{
	struct script *script = reader->script;
	size_t *special = special_item(script, name);

	if (special)
		*special = script->item_count;
	script->items[script->item_count++] = (struct script_item){
		.name = pool_strndup(reader->pool, name->text, name->length),
		.node = node,
	};
}

/* The others are numbers. */
static bool is_text(const struct token *name)
{
	return token_is(name, "file") || token_is(name, "function");
}

int script_parse_item(struct lexer *lexer, struct pool *pool,
		      struct script **script)
{
	struct script_reader reader = { .lexer = lexer, .pool = pool };
	const struct script_node *node;
	struct token name;
	int err;

	if (!*script)
		*script = new_script(pool);
	reader.script = *script;
	lexer_next(lexer);
	name = lexer->token;
	err = check_name(lexer, reader.script, &name);
	if (err)
		return err;
	lexer_next(lexer);
	err = lexer_take(lexer, '=', "'='");
	if (!err && is_text(&name))
		err = parse_script_text(&reader, &node);
	else if (!err)
		err = parse_script_value(&reader, &node);
	if (!err)
		err = lexer_take_end(lexer);
	if (!err)
		add_item(&reader, &name, node);
	return err;
}
