/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "prototype/parser.h"

static const struct type *with_lens(struct parser *parser,
				    const struct type *type, enum lens lens);

static bool is_struct(const struct type *type)
{
	return type->kind == TYPE_STRUCT || type->kind == TYPE_UNION;
}

/* Members stay what they are if the lens doesn't fit. */
static void change_members(struct parser *parser, struct type *type,
			   enum lens lens)
{
	struct type_member *members;

	members = pool_copy(&parser->into->pool, type->members,
			    type->count * sizeof(*members));
	for (unsigned i = 0; i < type->count; i++) {
		const struct type *changed =
			members[i].type->kind == TYPE_POINTER ?
				NULL :
				with_lens(parser, members[i].type, lens);

		if (changed)
			members[i].type = changed;
	}
	type->members = members;
}

/* Whether a lens is of the type itself, not of what it is made of. */
static bool fits(const struct type *type, enum lens lens)
{
	switch (type->kind) {
	case TYPE_INTEGER:
		return true;
	case TYPE_FLOAT:
	case TYPE_COMPLEX:
		return lens == LENS_HEX || lens == LENS_HIDE;
	case TYPE_ARRAY:
	case TYPE_STRUCT:
	case TYPE_UNION:
		return lens == LENS_BITS || lens == LENS_HIDE;
	case TYPE_VOID:
	case TYPE_POINTER:
		break;
	}
	return lens == LENS_HIDE;
}

/* A copy that is shown in another way; NULL when that makes no sense. */
static const struct type *with_lens(struct parser *parser,
				    const struct type *type, enum lens lens)
{
	struct type copy = *type;

	if (fits(type, lens)) {
		copy.lens = lens;
	} else if (type->kind == TYPE_POINTER &&
		   type->target->kind == TYPE_VOID) {
		return type; /* in hex, as ever */
	} else if (type->kind == TYPE_POINTER || type->kind == TYPE_ARRAY) {
		copy.target = with_lens(parser, type->target, lens);
		copy.lens = LENS_PLAIN;
		if (!copy.target)
			return NULL;
	} else if (is_struct(type) && type->complete) {
		change_members(parser, &copy, lens);
	} else {
		return NULL;
	}
	return pool_copy(&parser->into->pool, &copy, sizeof(copy));
}

int parse_lens(struct parser *parser, enum lens lens, const struct type **ret)
{
	const struct type *inner, *changed = NULL;
	struct token at;
	int err = lexer_take(&parser->lexer, '(', "'('");

	at = parser->lexer.token;
	if (!err)
		err = parse_type(parser, &inner);
	if (!err)
		changed = with_lens(parser, inner, lens);
	if (!err && !changed)
		err = lexer_expected(&parser->lexer, &at, "an integer type");
	if (!err)
		*ret = changed;
	return err ? err : lexer_take(&parser->lexer, ')', "')'");
}

static const struct {
	const char *name;
	enum failure failure;
} failures[] = {
	{ "errno", FAILURE_ERRNO },
	{ "errnum", FAILURE_ERRNUM },
	{ "fails_zero", FAILURE_ZERO },
	{ "fails_nonzero", FAILURE_NONZERO },
	{ "fails_negative", FAILURE_NEGATIVE },
};

enum failure parser_failure(const struct token *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(failures); i++)
		if (token_is(name, failures[i].name))
			return failures[i].failure;
	return FAILURE_UNKNOWN;
}

int parse_failure(struct parser *parser, enum failure failure,
		  const struct type **ret)
{
	bool pointers = failure != FAILURE_ERRNUM &&
			failure != FAILURE_NEGATIVE;
	const struct type *inner;
	struct type type;
	struct token at;
	int err = lexer_take(&parser->lexer, '(', "'('");

	at = parser->lexer.token;
	if (!err)
		err = parse_type(parser, &inner);
	if (!err && inner->kind != TYPE_INTEGER &&
	    (!pointers || inner->kind != TYPE_POINTER))
		err = lexer_expected(&parser->lexer, &at,
				     pointers ? "an integer or pointer" :
						"an integer");
	if (err)
		return err;
	type = *inner;
	type.failure = failure;
	*ret = pool_copy(&parser->into->pool, &type, sizeof(type));
	return lexer_take(&parser->lexer, ')', "')'");
}
