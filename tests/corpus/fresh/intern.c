/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth: none */
#include "../corpus.h"

/* Words that come again are kept once, in a tree; there are 600 of them, most of which
   come early. */
struct word {
	struct word *less, *more;
	char *text;
};

static struct word *tree;

PLAIN static const char *intern(const char *text)
{
	struct word **at = &tree;

	while (*at) {
		const int order = strcmp(text, (*at)->text);

		if (!order)
			return (*at)->text;
		at = order < 0 ? &(*at)->less : &(*at)->more;
	}
	*at = calloc(1, sizeof(**at));
	(*at)->text = strdup(text);
	return (*at)->text;
}

static void step(int i)
{
	char *list[30];

	for (int n = 0; n < 30; n++) {
		char text[32];

		snprintf(text, sizeof(text), "word-%u",
			 pick(10) ? pick(100) : pick(600));
		list[n] = malloc(40);
		strcpy(list[n], intern(text));
	}
	for (int n = 0; n < 30; n++)
		free(list[n]);
	(void)i;
}
