/* SPDX-License-Identifier: GPL-2.0-or-later
 * needs: -lm
 *
 * Clients come and go in waves of 24 seconds: at noon there are two hundred of
 * them, at midnight twenty.
 */
#include "server.h"

#include <math.h>

static char *clients[256];
static unsigned int n_clients;

static void connect_client(void)
{
	clients[n_clients++] = calloc(1, 400);
}

static void disconnect_client(void)
{
	unsigned int i = pick(n_clients);

	free(clients[i]);
	clients[i] = clients[--n_clients];
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(20)) {
		unsigned int wanted = (unsigned int)
			(110 - 90 * cos(uptime() * 2 * M_PI / 24));

		for (int i = 0; i < 3; i++) {
			if (n_clients < wanted)
				connect_client();
			else if (n_clients)
				disconnect_client();
		}
		if (n_clients && pick(2)) {
			disconnect_client();
			connect_client();
		}
	}
	return 0;
}
