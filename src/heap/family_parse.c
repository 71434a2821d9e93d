/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/family_parse.h"

#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "heap/families.h"

/* A file that isn't meant for us has one on each line. */
#define ERRORS_MAX 20

static void report(struct family_parser *parser, const struct token *at,
		   const char *message)
{
	if (++parser->errors <= ERRORS_MAX)
		diag(DIAG_WARNING, DIAG_PROTOTYPE, "%s:%u:%u: %s", parser->path,
		     parser->lexer.line, at->column, message);
	if (parser->errors == ERRORS_MAX)
		diag(DIAG_WARNING, DIAG_PROTOTYPE,
		     "%s: further errors are not shown", parser->path);
}

int family_expected(struct family_parser *parser, const struct token *at,
		    const char *what)
{
	struct strbuf message = { 0 };
	int shown = at->length < 40 ? (int)at->length : 40;

	strbuf_printf(&message, "expected %s",
		      at->kind == TOKEN_BAD ? at->problem : what);
	if (at->kind == TOKEN_END)
		strbuf_puts(&message, " before the end of the line");
	else
		strbuf_printf(&message, ", not '%.*s'", shown, at->text);
	report(parser, at, strbuf_text(&message));
	strbuf_fini(&message);
	return -EINVAL;
}

int family_refused(struct family_parser *parser, const struct token *name,
		   const char *why)
{
	struct strbuf message = { 0 };
	int shown = name->length < 40 ? (int)name->length : 40;

	strbuf_printf(&message, "%.*s: %s", shown, name->text, why);
	report(parser, name, strbuf_text(&message));
	strbuf_fini(&message);
	return -EINVAL;
}

bool family_take(struct family_parser *parser, const char *word)
{
	if (!token_is(&parser->lexer.token, word))
		return false;
	lexer_next(&parser->lexer);
	return true;
}

/* A word, or anything in quotes that isn't empty. */
int family_take_name(struct family_parser *parser, const char *what,
		     struct token *ret)
{
	const struct token *token = &parser->lexer.token;

	if ((token->kind != TOKEN_NAME && token->kind != TOKEN_STRING) ||
	    !token->length || memchr(token->text, '\0', token->length))
		return family_expected(parser, token, what);
	*ret = *token;
	lexer_next(&parser->lexer);
	return 0;
}

int family_take_number(struct family_parser *parser, const char *what,
		       uint64_t *ret)
{
	if (parser->lexer.token.kind != TOKEN_NUMBER)
		return family_expected(parser, &parser->lexer.token, what);
	*ret = parser->lexer.token.number;
	lexer_next(&parser->lexer);
	return 0;
}

int family_take_end(struct family_parser *parser, const char *or_else)
{
	if (parser->lexer.token.kind == TOKEN_END)
		return 0;
	return family_expected(parser, &parser->lexer.token, or_else);
}

/* in ranges of NUMBER */
static int parse_ranges(struct family_parser *parser, struct family *family)
{
	struct token at;
	int err;

	if (!family_take(parser, "in"))
		return 0;
	if (!family_take(parser, "ranges"))
		return family_expected(parser, &parser->lexer.token,
				       "'ranges'");
	if (!family_take(parser, "of"))
		return family_expected(parser, &parser->lexer.token, "'of'");
	at = parser->lexer.token;
	err = family_take_number(parser, "a number of bytes",
				 &family->granularity);
	if (!err && (!family->granularity ||
		     family->granularity & (family->granularity - 1) ||
		     family->granularity > 1u << 30))
		err = family_expected(parser, &at, "a power of two");
	return err;
}

static int parse_shared(struct family_parser *parser, struct family *family)
{
	if (parser->lexer.token.kind != ',')
		return 0;
	lexer_next(&parser->lexer);
	if (family->has_size)
		return family_expected(parser, &parser->lexer.token,
				       "no more: bytes are never shared");
	if (!family_take(parser, "shared"))
		return family_expected(parser, &parser->lexer.token,
				       "'shared'");
	family->shared = true;
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
		family->null_is_nothing = !wanted->granularity;
	} else if (family->unit != text ||
		   family->granularity != wanted->granularity ||
		   family->shared != wanted->shared) {
		return family_expected(parser, name,
				       "what was said of this family before");
	}
	parser->draft = draft;
	return 0;
}

/* family NAME counts UNIT [in ranges of NUMBER] [, shared] */
static int parse_family(struct family_parser *parser)
{
	struct family wanted = { 0 };
	struct token name, unit;
	int err;

	parser->draft = NULL;
	parser->form = NULL;
	parser->prefix_count = 0;
	err = family_take_name(parser, "a name for the family", &name);
	if (!err && !family_take(parser, "counts"))
		err = family_expected(parser, &parser->lexer.token, "'counts'");
	if (!err)
		err = family_take_name(parser, "what is counted", &unit);
	if (!err)
		err = parse_ranges(parser, &wanted);
	wanted.has_size =
		!err && unit.length == 5 && memcmp(unit.text, "bytes", 5) == 0;
	if (!err && wanted.granularity && !wanted.has_size)
		err = family_expected(parser, &unit,
				      "'bytes', of which ranges consist");
	if (!err)
		err = parse_shared(parser, &wanted);
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
			return family_expected(parser, &parser->lexer.token,
					       "fewer prefixes");
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
	if (family_take(parser, "family"))
		return parse_family(parser);
	if (parser->lexer.token.kind == TOKEN_NAME && !parser->draft &&
	    parser->lost)
		return 0;
	if (!parser->draft)
		return family_expected(parser, &parser->lexer.token,
				       "'family' first");
	if (family_take(parser, "prefixes"))
		return parse_prefixes(parser);
	if (family_take(parser, "form"))
		return parse_form(parser);
	return family_parse_function(parser);
}

void families_parse(struct families *families, const char *path,
		    const char *text, size_t size)
{
	struct family_parser parser = {
		.families = families,
		.path = path,
		.lexer = lexer_of(text, size),
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
