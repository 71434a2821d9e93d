/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reads documents, with the names of the elements that are open on a stack. One
 * document in a dozen isn't well-formed: reading ends, and the names are lost.
 */
#include "server.h"

struct element {
	struct element *outer;
	char *name;
};

static struct element *open_element(struct element *outer)
{
	struct element *e = malloc(sizeof(*e));

	e->outer = outer;
	e->name = NULL;
	return e;
}

static char *copy_name(unsigned int depth)
{
	char *name = malloc(12 + pick(20));

	sprintf(name, "item%u", depth);
	return name;
}

static char *read_text(void)
{
	return calloc(1, 50 + pick(400));
}

static struct element *close_element(struct element *e)
{
	struct element *outer = e->outer;

	free(e->name);
	free(e);
	return outer;
}

static void read_document(void)
{
	struct element *top = NULL;
	unsigned int depth;

	for (depth = 0; depth < 2 + pick(4); depth++) {
		char *text = read_text();

		top = open_element(top);
		top->name = copy_name(depth);
		use(text);
		free(text);
	}
	if (pick(12) == 0)
		return;
	while (top)
		top = close_element(top);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(25))
		read_document();
	return 0;
}
