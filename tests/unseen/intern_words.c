/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Interns the words of a language that has 500 of them, some frequent and most
 * seldom. New ones turn up less and less often. The line that they come from
 * is freed.
 */
#include "server.h"

static char *words[500];

static char *intern_word(unsigned int number)
{
	char word[20];

	snprintf(word, sizeof(word), "word%u", number);
	if (!words[number])
		words[number] = strdup(word);
	return words[number];
}

static char *read_line(void)
{
	return calloc(1, 80 + pick(80));
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(25)) {
		char *line = read_line();

		for (int i = 0; i < 4; i++)
			use(intern_word(pick(pick(500) + 1)));
		use(line);
		free(line);
	}
	return 0;
}
