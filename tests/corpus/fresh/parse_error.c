/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth: add_token */
#include "../corpus.h"

/* Lines become lists of tokens; where one is wrong, what there is of the list is
   left behind. */
struct token {
	struct token *next;
	size_t length;
	char text[];
};

PLAIN static struct token *add_token(struct token *before, const char *text,
				     size_t length)
{
	struct token *token = malloc(sizeof(*token) + length + 1);

	token->next = before;
	token->length = length;
	memcpy(token->text, text, length);
	token->text[length] = 0;
	return token;
}

static void free_all(struct token *token)
{
	while (token) {
		struct token *next = token->next;

		free(token);
		token = next;
	}
}

static int parse(const char *line)
{
	struct token *list = NULL;
	int count = 0;

	while (*line) {
		const size_t length = strcspn(line, " ");

		if (line[0] == '!')
			return -1;
		list = add_token(list, line, length);
		line += length + strspn(line + length, " ");
		count++;
	}
	free_all(list);
	return count;
}

static void step(int i)
{
	static const char *const lines[] = {
		"set color blue", "add user alice group staff", "remove 17",
		"list all users in group staff", "set name ! bob",
	};

	for (int n = 0; n < 8; n++)
		parse(lines[(i * 8 + n) % 5 == 4 && pick(3) ? 0 :
			    (unsigned)(i * 8 + n) % 5]);
}
