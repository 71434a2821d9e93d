/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Each of forty clients has a history of at most ten commands. Some clients
 * send commands all the time, others hardly ever: what these have sent last
 * stays for long.
 */
#include "server.h"

#define CLIENTS 40
#define LENGTH 10

static struct {
	char *commands[LENGTH];
	unsigned int next;
} clients[CLIENTS];

static void add_command(unsigned int client)
{
	char **slot = &clients[client].commands[clients[client].next++ % LENGTH];

	free(*slot);
	*slot = malloc(40 + pick(40));
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; i < CLIENTS * LENGTH; i++)
		add_command(i % CLIENTS);
	while (serving(15))
		add_command(pick(pick(CLIENTS) + 1));
	return 0;
}
