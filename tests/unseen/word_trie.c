/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Learns words letter by letter, in a tree of letters. There are three hundred
 * words, so that new letters get rare soon.
 */
#include "server.h"

struct letter {
	struct letter *next[26];
	unsigned int count;
};

static struct letter root;

static struct letter *new_letter(void)
{
	return calloc(1, sizeof(struct letter));
}

static char *read_word(unsigned int number)
{
	char *word = malloc(8);

	for (unsigned int i = 0; i < 7; i++) {
		word[i] = (char)('a' + (number * 7 + i * number) % 26);
		number = number * 3 + 1;
	}
	word[number % 4 + 3] = 0;
	return word;
}

static void learn(const char *word)
{
	struct letter *at = &root;

	for (; *word; word++) {
		if (!at->next[*word - 'a'])
			at->next[*word - 'a'] = new_letter();
		at = at->next[*word - 'a'];
	}
	at->count++;
}

int main(int argc, char **argv)
{
	char *word;

	serve_for(argc, argv);
	while (serving(12)) {
		word = read_word(pick(300));
		learn(word);
		free(word);
	}
	return 0;
}
