/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/lexer.h"

#include <string.h>

struct lexer lexer_of(const char *path, const char *text, size_t size)
{
	return (struct lexer){
		.token = { .kind = TOKEN_END, .text = text },
		.line_start = text,
		.at = text,
		.line_end = NULL,
		.end = text + size,
		.mistakes = { .path = path, .domain = DIAG_PROTOTYPE },
	};
}

static void begin_line(struct lexer *lexer, const char *start)
{
	const char *newline = memchr(start, '\n', lexer->end - start);

	lexer->line_start = start;
	lexer->at = start;
	lexer->line_end = newline ? newline : lexer->end;
	lexer->line++;
}

/* Where the next line begins, or NULL. */
static const char *next_line(const struct lexer *lexer)
{
	const char *start = lexer->line_end ? lexer->line_end + 1 :
					      lexer->line_start;

	return start < lexer->end ? start : NULL;
}

bool lexer_next_line(struct lexer *lexer)
{
	const char *start = next_line(lexer);

	if (!start)
		return false;
	begin_line(lexer, start);
	lexer->open = 0;
	lexer_next(lexer);
	return true;
}

void lexer_skip_item(struct lexer *lexer)
{
	while (lexer->token.kind != TOKEN_END)
		lexer_next(lexer);
}

static bool is_blank(char c)
{
	return c && strchr(" \t\r\f\v", c);
}

static void skip_blanks(struct lexer *lexer)
{
	while (lexer->at < lexer->line_end && is_blank(*lexer->at))
		lexer->at++;
}

/* A comment, or nothing at all. */
static bool says_nothing(const struct lexer *lexer)
{
	return lexer->at == lexer->line_end || *lexer->at == '#' ||
	       *lexer->at == ';';
}

/* Goes to the line in which the item is continued; else stays. */
static bool continue_item(struct lexer *lexer)
{
	struct lexer next = *lexer;
	const char *start;

	if (!lexer->open)
		return false;
	do {
		start = next_line(&next);
		if (!start)
			return false;
		begin_line(&next, start);
		skip_blanks(&next);
	} while (says_nothing(&next));
	if (next.at == next.line_start && *next.at != ')')
		return false;
	*lexer = next;
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

static void lex_mark(struct lexer *lexer)
{
	struct token *token = &lexer->token;

	token->kind = (unsigned char)*lexer->at++;
	token->length = 1;
	if (token->kind == '(' || token->kind == '[')
		lexer->open++;
	else if ((token->kind == ')' || token->kind == ']') && lexer->open)
		lexer->open--;
}

void lexer_next(struct lexer *lexer)
{
	struct token *token = &lexer->token;
	bool ended;

	skip_blanks(lexer);
	ended = lexer->at == lexer->line_end || *lexer->at == '#';
	if (ended && continue_item(lexer))
		ended = false;
	*token = (struct token){
		.kind = TOKEN_END,
		.text = lexer->at,
		.line = lexer->line,
		.column = lexer->at - lexer->line_start + 1,
	};
	if (ended)
		return;
	if (is_name_char(*lexer->at))
		lex_word(lexer);
	else if (*lexer->at == '"')
		lex_string(lexer);
	else
		lex_mark(lexer);
}

bool token_is(const struct token *token, const char *name)
{
	return token->kind == TOKEN_NAME && strlen(name) == token->length &&
	       memcmp(token->text, name, token->length) == 0;
}
