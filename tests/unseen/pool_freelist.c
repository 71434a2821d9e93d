/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Connections come from a pool that makes more of them when it has none left,
 * and gives none back to malloc. How many are open at once goes up and down
 * and now and then a little higher than ever before; but never over 120.
 */
#include "server.h"

struct connection {
	struct connection *next;
	char buffer[300];
};

static struct connection *spare, *open_ones[120];
static unsigned int n_open;

static struct connection *new_connection(void)
{
	return calloc(1, sizeof(struct connection));
}

static struct connection *take_connection(void)
{
	struct connection *c = spare;

	if (!c)
		return new_connection();
	spare = c->next;
	return c;
}

static void close_one(void)
{
	unsigned int i = pick(n_open);
	struct connection *c = open_ones[i];

	open_ones[i] = open_ones[--n_open];
	c->next = spare;
	spare = c;
}

int main(int argc, char **argv)
{
	unsigned int wanted = 60;

	serve_for(argc, argv);
	for (unsigned int i = 0; serving(10); i++) {
		if (i % 50 == 0)
			wanted = 20 + pick(90);
		if (n_open < wanted)
			open_ones[n_open++] = take_connection();
		else if (n_open)
			close_one();
	}
	return 0;
}
