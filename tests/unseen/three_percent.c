/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A lease is given back at its end, but three in a hundred aren't: their
 * client has moved to another slot, where nobody looks.
 */
#include "server.h"

#define LEASES 100

struct lease {
	unsigned int client;
	char address[60];
};

static struct lease *leases[LEASES];

static struct lease *grant_lease(unsigned int client)
{
	struct lease *l = malloc(sizeof(*l));

	l->client = client;
	snprintf(l->address, sizeof(l->address), "10.0.0.%u", client % 250);
	return l;
}

int main(int argc, char **argv)
{
	unsigned int slot;

	serve_for(argc, argv);
	for (unsigned int i = 0; serving(10); i++) {
		slot = i % LEASES;
		if (pick(100) >= 3)
			free(leases[slot]);
		leases[slot] = grant_lease(i);
	}
	return 0;
}
