/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * An editor's journal: the last 80 changes can be undone. Sometimes a few are
 * undone, which frees them; a new change frees what could have been redone.
 */
#include "server.h"

#define DEPTH 80

struct change {
	size_t at, length;
	char *old_text;
};

static struct change *journal[DEPTH];
static unsigned int done, redoable;

static char *copy_old_text(size_t length)
{
	char *text = malloc(length + 1);

	memset(text, 'a', length);
	text[length] = 0;
	return text;
}

static struct change *note_change(size_t length)
{
	struct change *c = malloc(sizeof(*c));

	c->at = pick(1000);
	c->length = length;
	c->old_text = copy_old_text(length);
	return c;
}

static void forget(struct change *c)
{
	free(c->old_text);
	free(c);
}

static void change_text(void)
{
	while (redoable > 0)
		forget(journal[done + --redoable]);
	if (done == DEPTH) {
		forget(journal[0]);
		memmove(journal, journal + 1, (DEPTH - 1) * sizeof(*journal));
		done--;
	}
	journal[done++] = note_change(5 + pick(60));
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(40)) {
		if (pick(8) || done < 5) {
			change_text();
			continue;
		}
		for (unsigned int i = pick(5); i > 0; i--) {
			done--;
			redoable++;
		}
	}
	return 0;
}
