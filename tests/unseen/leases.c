/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Addresses are leased for 50 seconds, and most leases aren't renewed. When the
 * server begins it has those of its last run, which end one after the other.
 */
#include "server.h"

#define LEASE   50.0
#define BUCKETS 512

struct lease {
	struct lease *next;
	double ends;
	unsigned int client;
	char *host;
};

static struct lease *table[BUCKETS];
static unsigned int sweep;

static char *name_host(unsigned int client)
{
	char *host = NULL;

	if (asprintf(&host, "host-%u.lan.example.org", client) < 0)
		abort();
	return host;
}

static void grant(unsigned int client, double seconds)
{
	struct lease *lease = malloc(sizeof(*lease));

	lease->client = client;
	lease->ends = uptime() + seconds;
	lease->host = name_host(client);
	lease->next = table[client % BUCKETS];
	table[client % BUCKETS] = lease;
}

static struct lease *find(unsigned int client)
{
	struct lease *lease = table[client % BUCKETS];

	while (lease && lease->client != client)
		lease = lease->next;
	return lease;
}

static void expire(struct lease **place)
{
	struct lease *lease;

	while ((lease = *place)) {
		if (lease->ends > uptime()) {
			place = &lease->next;
			continue;
		}
		*place = lease->next;
		free(lease->host);
		free(lease);
	}
}

static char *make_reply(unsigned int client)
{
	char *reply = malloc(300);

	snprintf(reply, 300, "10.0.%u.%u", client / 250 % 250, client % 250);
	return reply;
}

static void discover(unsigned int client)
{
	struct lease *lease = find(client);
	char *reply = make_reply(client);

	if (lease)
		lease->ends = uptime() + LEASE;
	else
		grant(client, LEASE);
	use(reply);
	free(reply);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; i < 2500; i++)
		grant(i, LEASE * i / 2500);
	for (unsigned int i = 2500; serving(20); i++) {
		discover(pick(10) ? i : i - pick(500));
		for (int k = 0; k < 8; k++)
			expire(&table[sweep++ % BUCKETS]);
	}
	return 0;
}
