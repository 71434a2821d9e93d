/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "base/lexer.h"
#include "base/strbuf.h"

void lexer_tell(struct lexer *lexer, const struct token *at,
		const char *message)
{
	mistakes_tell(&lexer->mistakes, at->line, at->column, message);
}

int lexer_expected(struct lexer *lexer, const struct token *at,
		   const char *what)
{
	CLEANUP(strbuf_fini) struct strbuf message = { 0 };
	int shown = at->length < 40 ? (int)at->length : 40;

	strbuf_printf(&message, "expected %s",
		      at->kind == TOKEN_BAD ? at->problem : what);
	if (at->kind == TOKEN_END)
		strbuf_puts(&message, " before the end of the line");
	else
		strbuf_printf(&message, ", not '%.*s'", shown, at->text);
	lexer_tell(lexer, at, strbuf_text(&message));
	return -EINVAL;
}

int lexer_missing(struct lexer *lexer, const char *what)
{
	return lexer_expected(lexer, &lexer->token, what);
}

int lexer_take(struct lexer *lexer, int kind, const char *what)
{
	if (lexer->token.kind != kind)
		return lexer_missing(lexer, what);
	lexer_next(lexer);
	return 0;
}

bool lexer_take_word(struct lexer *lexer, const char *word)
{
	if (!token_is(&lexer->token, word))
		return false;
	lexer_next(lexer);
	return true;
}

int lexer_take_end(struct lexer *lexer)
{
	const struct token *token = &lexer->token;

	if (token->kind == TOKEN_END)
		return 0;
	if (token->kind != ';')
		return lexer_missing(lexer, "';'");
	lexer_next(lexer);
	if (token->kind == TOKEN_END || token->kind == ';')
		return 0;
	return lexer_missing(lexer, "one item a line");
}
