/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LEXER_H
#define CALLTRAP_LEXER_H

#include <stdbool.h>

#include "base/mistakes.h"
#include "base/types.h"

/* A punctuation mark's kind is the character itself. */
enum token_kind {
	TOKEN_END = 256, /* of the item's last line, or a # comment there */
	TOKEN_NAME,
	TOKEN_NUMBER,
	TOKEN_STRING, /* text and length are without the quotes */
	TOKEN_BAD,    /* .problem says what is wrong with it */
};

struct token {
	int kind;
	const char *text;
	size_t length;
	unsigned line;
	unsigned column; /* in bytes, from 1 on */
	uint64_t number;
	const char *problem;
};

/*
 * The words of a text with one item a line. While a parenthesis is open, the
 * item goes on in the next line if that is indented, or begins with the
 * parenthesis that closes.
 */
struct lexer {
	struct token token; /* the one that is being looked at */
	unsigned open;      /* parentheses and brackets, so far in the item */
	unsigned line;
	const char *line_start;
	const char *at;
	const char *line_end;
	const char *end;
	struct mistakes mistakes;
};

/* path: for messages. */
struct lexer lexer_of(const char *path, const char *text, size_t size);

/* Goes to the first token of the next line; false behind the last one. */
bool lexer_next_line(struct lexer *lexer);

/* Goes behind the item that the lexer is in. */
void lexer_skip_item(struct lexer *lexer);

void lexer_next(struct lexer *lexer);

/* Goes behind the word if it stands here. */
bool lexer_take_word(struct lexer *lexer, const char *word);

/* Goes behind a token of this kind, or says that it was expected. */
int lexer_take(struct lexer *lexer, int kind, const char *what) MUST_CHECK;

/*
 * The end of an item: its semicolon, which ltrace doesn't ask for at the end
 * of a line, and perhaps a comment.
 */
int lexer_take_end(struct lexer *lexer) MUST_CHECK;

/* Tells the user something about a token. */
void lexer_tell(struct lexer *lexer, const struct token *at,
		const char *message);

/* Tells what should stand where a token is; -EINVAL. */
int lexer_expected(struct lexer *lexer, const struct token *at,
		   const char *what);

/* … the one that is being looked at. */
int lexer_missing(struct lexer *lexer, const char *what);

bool token_is(const struct token *token, const char *name);

#endif
