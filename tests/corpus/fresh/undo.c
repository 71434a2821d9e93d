/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth: record */
#include "../corpus.h"

/* What was changed in a text is kept for ever, to be undone; the text itself is made
   anew each time, and the list of what is shown has a bound. */
struct change {
	struct change *before;
	size_t at;
	char old[48];
};

static struct change *changes;
static char *text;
static char *shown[16];

PLAIN static void record(size_t at)
{
	struct change *change = malloc(sizeof(*change));

	memset(change->old, 'o', sizeof(change->old));
	change->at = at;
	change->before = changes;
	changes = change;
}

PLAIN static void edit(size_t length)
{
	char *changed = malloc(length);

	memset(changed, 'n', length);
	free(text);
	text = changed;
}

PLAIN static void show(unsigned row)
{
	free(shown[row % 16]);
	shown[row % 16] = malloc(80);
	touch(shown[row % 16], 80);
}

static void step(int i)
{
	for (int n = 0; n < 3; n++) {
		record(pick(1000));
		edit(2000 + pick(100));
		show((unsigned)(3 * i + n));
	}
}
