/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Documents are lists of members, and a member may be an object with members of
 * its own. To replace a member frees it, but not the members below it.
 */
#include "server.h"

#define MEMBERS 60

struct member {
	struct member *next, *below;
	char name[24];
};

static struct member *document[MEMBERS];

static struct member *new_child(struct member *next, unsigned int number)
{
	struct member *m = calloc(1, sizeof(*m));

	snprintf(m->name, sizeof(m->name), "child%u", number);
	m->next = next;
	return m;
}

static struct member *new_value(unsigned int number)
{
	struct member *m = calloc(1, sizeof(*m));

	snprintf(m->name, sizeof(m->name), "value%u", number);
	if (pick(6) == 0)
		for (unsigned int i = 0; i <= pick(3); i++)
			m->below = new_child(m->below, i);
	return m;
}

static char *print_value(const struct member *m)
{
	char *text = malloc(64);

	snprintf(text, 64, "{\"%s\":%d}", m->name, m->below != NULL);
	return text;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(15); i++) {
		struct member **slot = &document[pick(MEMBERS)];
		char *text;

		free(*slot);
		*slot = new_value(i);
		text = print_value(*slot);
		use(text);
		free(text);
	}
	return 0;
}
