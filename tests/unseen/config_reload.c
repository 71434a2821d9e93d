/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reads its configuration anew every three seconds. The one in use and the two
 * before it are kept, in case that one has to go back.
 */
#include "server.h"

#define KEPT 3
#define ENTRIES 12

struct config {
	char *entries[ENTRIES];
};

static struct config *configs[KEPT];

static struct config *load_config(unsigned int generation)
{
	struct config *c = malloc(sizeof(*c));

	for (int i = 0; i < ENTRIES; i++)
		if (asprintf(&c->entries[i], "key%d=%u", i, generation) < 0)
			abort();
	return c;
}

static void free_config(struct config *c)
{
	if (!c)
		return;
	for (int i = 0; i < ENTRIES; i++)
		free(c->entries[i]);
	free(c);
}

int main(int argc, char **argv)
{
	unsigned int generation = 0;

	serve_for(argc, argv);
	do {
		free_config(configs[generation % KEPT]);
		configs[generation % KEPT] = load_config(generation);
		generation++;
	} while (serving(3000));
	return 0;
}
