/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/lexer.h"

#include <string.h>

struct lexer lexer_of(const char *text, size_t size)
{
	return (struct lexer){
		.token = { .kind = TOKEN_END, .text = text },
		.line_start = text,
		.at = text,
		.line_end = NULL,
		.end = text + size,
	};
}

bool lexer_next_line(struct lexer *lexer)
{
	const char *start = lexer->line_end ? lexer->line_end + 1 :
					      lexer->line_start;
	const char *newline;

	if (start >= lexer->end)
		return false;
	newline = memchr(start, '\n', lexer->end - start);
	lexer->line_start = start;
	lexer->at = start;
	lexer->line_end = newline ? newline : lexer->end;
	lexer->line++;
	lexer_next(lexer);
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Symbols also hold dots (.constprop.0), dollars and UTF-8. */
static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       is_digit(c) || c == '_' || c == '.' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

static int digit_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

static void lex_number(struct token *token)
{
	size_t i = 0;
	int base = 10;

	token->kind = TOKEN_NUMBER;
	if (token->text[0] == '0' && token->length > 1) {
		base = (token->text[1] | 0x20) == 'x' ? 16 : 8;
		i = base == 16 ? 2 : 1;
	}
	if (i == token->length)
		token->kind = TOKEN_BAD;
	for (; i < token->length; i++) {
		int digit = digit_value(token->text[i]);

		if (digit >= base ||
		    __builtin_mul_overflow(token->number, base,
					   &token->number) ||
		    __builtin_add_overflow(token->number, digit,
					   &token->number))
			token->kind = TOKEN_BAD;
	}
	if (token->kind == TOKEN_BAD)
		token->problem = "a number of at most 64 bits";
}

static void lex_word(struct lexer *lexer)
{
	struct token *token = &lexer->token;

	while (lexer->at < lexer->line_end && is_name_char(*lexer->at))
		lexer->at++;
	token->length = lexer->at - token->text;
	if (is_digit(token->text[0]))
		lex_number(token);
	else
		token->kind = TOKEN_NAME;
}

static void lex_string(struct lexer *lexer)
{
	struct token *token = &lexer->token;
	const char *start = lexer->at + 1;
	const char *close = memchr(start, '"', lexer->line_end - start);

	if (!close) {
		token->kind = TOKEN_BAD;
		token->problem = "a closing quote";
		token->length = lexer->line_end - token->text;
		lexer->at = lexer->line_end;
		return;
	}
	token->kind = TOKEN_STRING;
	token->text = start;
	token->length = close - start;
	lexer->at = close + 1;
}

void lexer_next(struct lexer *lexer)
{
	struct token *token = &lexer->token;

	while (lexer->at < lexer->line_end && *lexer->at &&
	       strchr(" \t\r\f\v", *lexer->at))
		lexer->at++;
	*token = (struct token){
		.kind = TOKEN_END,
		.text = lexer->at,
		.column = lexer->at - lexer->line_start + 1,
	};
	if (lexer->at == lexer->line_end || *lexer->at == '#')
		return;
	if (is_name_char(*lexer->at)) {
		lex_word(lexer);
	} else if (*lexer->at == '"') {
		lex_string(lexer);
	} else {
		token->kind = (unsigned char)*lexer->at++;
		token->length = 1;
	}
}

bool token_is(const struct token *token, const char *name)
{
	return token->kind == TOKEN_NAME && strlen(name) == token->length &&
	       memcmp(token->text, name, token->length) == 0;
}
