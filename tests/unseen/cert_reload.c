/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Serves handshakes, and reads its certificates again every second and a half.
 * The old chain's head is freed, the certificates that follow it are not.
 */
#include "server.h"

struct certificate {
	struct certificate *issuer;
	char der[1200];
};

static struct certificate *chain;

static struct certificate *read_issuer(struct certificate *issuer)
{
	struct certificate *c = malloc(sizeof(*c));

	c->issuer = issuer;
	return c;
}

static struct certificate *read_leaf(struct certificate *issuer)
{
	struct certificate *c = malloc(sizeof(*c));

	c->issuer = issuer;
	c->der[0] = 0x30;
	return c;
}

static void reload(void)
{
	free(chain);
	chain = read_leaf(read_issuer(read_issuer(NULL)));
}

static char *handshake(void)
{
	return calloc(1, 400 + pick(200));
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(25); i++) {
		char *state = handshake();

		if (i % 60 == 0)
			reload();
		use(state);
		free(state);
	}
	return 0;
}
