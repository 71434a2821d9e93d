/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/family_parse.h"

#include <errno.h>
#include <string.h>

#include "base/strbuf.h"
#include "heap/families.h"

int family_refused(struct family_parser *parser, const struct token *name,
		   const char *why)
{
	struct strbuf message = { 0 };
	int shown = name->length < 40 ? (int)name->length : 40;

	strbuf_printf(&message, "%.*s: %s", shown, name->text, why);
	lexer_tell(&parser->lexer, name, strbuf_text(&message));
	strbuf_fini(&message);
	return -EINVAL;
}

/* A word, or anything in quotes that isn't empty. */
int family_take_name(struct family_parser *parser, const char *what,
		     struct token *ret)
{
	const struct token *token = &parser->lexer.token;

	if ((token->kind != TOKEN_NAME && token->kind != TOKEN_STRING) ||
	    !token->length || memchr(token->text, '\0', token->length))
		return lexer_expected(&parser->lexer, token, what);
	*ret = *token;
	lexer_next(&parser->lexer);
	return 0;
}

int family_take_number(struct family_parser *parser, const char *what,
		       uint64_t *ret)
{
	if (parser->lexer.token.kind != TOKEN_NUMBER)
		return lexer_missing(&parser->lexer, what);
	*ret = parser->lexer.token.number;
	lexer_next(&parser->lexer);
	return 0;
}

int family_take_end(struct family_parser *parser, const char *or_else)
{
	if (parser->lexer.token.kind == TOKEN_END)
		return 0;
	return lexer_missing(&parser->lexer, or_else);
}

/* in ranges of NUMBER */
static int parse_ranges(struct family_parser *parser, struct family *family)
{
	struct token at;
	int err;

	if (!lexer_take_word(&parser->lexer, "in"))
		return 0;
	if (!lexer_take_word(&parser->lexer, "ranges"))
		return lexer_missing(&parser->lexer, "'ranges'");
	if (!lexer_take_word(&parser->lexer, "of"))
		return lexer_missing(&parser->lexer, "'of'");
	at = parser->lexer.token;
	err = family_take_number(parser, "a number of bytes",
				 &family->granularity);
	if (!err && (!family->granularity ||
		     family->granularity & (family->granularity - 1) ||
		     family->granularity > 1u << 30))
		err = lexer_expected(&parser->lexer, &at, "a power of two");
	return err;
}

/* [, shared] [, partly] [, collected] */
static int parse_properties(struct family_parser *parser, struct family *family)
{
	while (parser->lexer.token.kind == ',') {
		lexer_next(&parser->lexer);
		if (lexer_take_word(&parser->lexer, "partly"))
			family->partly = true;
		else if (lexer_take_word(&parser->lexer, "collected"))
			family->collected = true;
		else if (family->has_size)
			return lexer_missing(&parser->lexer,
					     "'partly' or 'collected': "
					     "bytes are never shared");
		else if (lexer_take_word(&parser->lexer, "shared"))
			family->shared = true;
		else
			return lexer_missing(&parser->lexer,
					     "'shared', 'partly' or "
					     "'collected'");
	}
	return 0;
}

/* A family that goes on, perhaps in another file, is the same everywhere. */
static int begin_family(struct family_parser *parser, const struct token *name,
			const struct token *unit, const struct family *wanted)
{
	struct family_draft *draft =
		families_family(parser->families, name->text, name->length);
	struct family *family = &draft->family;
	const char *text =
		families_text(parser->families, unit->text, unit->length);

	if (!family->unit) {
		family->unit = text;
		family->has_size = wanted->has_size;
		family->granularity = wanted->granularity;
		family->shared = wanted->shared;
		family->partly = wanted->partly;
		family->collected = wanted->collected;
		family->null_is_nothing = !wanted->granularity;
	} else if (family->unit != text ||
		   family->granularity != wanted->granularity ||
		   family->shared != wanted->shared ||
		   family->partly != wanted->partly ||
		   family->collected != wanted->collected) {
		return lexer_expected(&parser->lexer, name,
				      "what was said of this family before");
	}
	parser->draft = draft;
	return 0;
}

/* family NAME counts UNIT [in ranges of NUMBER] [, PROPERTY]... */
static int parse_family(struct family_parser *parser)
{
	struct family wanted = { 0 };
	struct token name, unit;
	int err;

	parser->draft = NULL;
	parser->form = NULL;
	parser->prefix_count = 0;
	err = family_take_name(parser, "a name for the family", &name);
	if (!err && !lexer_take_word(&parser->lexer, "counts"))
		err = lexer_missing(&parser->lexer, "'counts'");
	if (!err)
		err = family_take_name(parser, "what is counted", &unit);
	if (!err)
		err = parse_ranges(parser, &wanted);
	wanted.has_size = !err && unit.length == 5 &&
			  memcmp(unit.text, "bytes", 5) == 0;
	if (!err && wanted.granularity && !wanted.has_size)
		err = lexer_expected(&parser->lexer, &unit,
				     "'bytes', of which ranges consist");
	if (!err)
		err = parse_properties(parser, &wanted);
	if (!err)
		err = family_take_end(parser, "the end of the line");
	return err ? err : begin_family(parser, &name, &unit, &wanted);
}

/* prefixes NAME... */
static int parse_prefixes(struct family_parser *parser)
{
	struct token prefixes[FAMILY_PREFIXES_MAX];
	unsigned count = 0;

	while (parser->lexer.token.kind != TOKEN_END) {
		if (count == FAMILY_PREFIXES_MAX)
			return lexer_missing(&parser->lexer, "fewer prefixes");
		if (family_take_name(parser, "a prefix", &prefixes[count]))
			return -EINVAL;
		count++;
	}
	memcpy(parser->prefixes, prefixes, count * sizeof(*prefixes));
	parser->prefix_count = count;
	return 0;
}

/* form NAME, or any */
static int parse_form(struct family_parser *parser)
{
	struct token name;
	int err = family_take_name(parser, "a name for the form", &name);

	if (!err)
		err = family_take_end(parser, "the end of the line");
	if (err)
		return err;
	parser->form =
		token_is(&name, "any") ?
			NULL :
			families_text(parser->families, name.text, name.length);
	return 0;
}

static int parse_item(struct family_parser *parser)
{
	if (lexer_take_word(&parser->lexer, "family"))
		return parse_family(parser);
	if (parser->lexer.token.kind == TOKEN_NAME && !parser->draft &&
	    parser->lost)
		return 0;
	if (!parser->draft)
		return lexer_missing(&parser->lexer, "'family' first");
	if (lexer_take_word(&parser->lexer, "prefixes"))
		return parse_prefixes(parser);
	if (lexer_take_word(&parser->lexer, "form"))
		return parse_form(parser);
	return family_parse_function(parser);
}

void families_parse(struct families *families, const char *path,
		    const char *text, size_t size)
{
	struct family_parser parser = {
		.families = families,
		.lexer = lexer_of(path, text, size),
	};

	while (lexer_next_line(&parser.lexer)) {
		if (parser.lexer.token.kind == TOKEN_END)
			continue;
		/* What follows a broken family line belongs to nobody; one
		   message about that is enough. */
		if (parse_item(&parser) && !parser.draft)
			parser.lost = true;
	}
}
