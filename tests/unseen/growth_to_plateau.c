/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * More and more clients stay connected, until after twenty seconds there are
 * three hundred, which is the limit; from then on who is longest there has to
 * go. Clients also leave by themselves.
 */
#include "server.h"

#define LIMIT 300

static char *clients[LIMIT];
static unsigned int n_clients;

static void admit_client(void)
{
	if (n_clients == LIMIT) {
		free(clients[0]);
		memmove(clients, clients + 1, (LIMIT - 1) * sizeof(*clients));
		n_clients--;
	}
	clients[n_clients++] = calloc(1, 350);
}

static void leave(void)
{
	unsigned int i = pick(n_clients);

	free(clients[i]);
	clients[i] = clients[--n_clients];
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(33)) {
		admit_client();
		if (pick(2))
			leave();
	}
	return 0;
}
