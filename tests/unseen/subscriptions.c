/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A broker keeps the last message of each topic, and who has subscribed. A
 * client that comes again should be found, but names are compared with their
 * terminating byte left out of one of them: each time it becomes a new one.
 */
#include "server.h"

#define CLIENTS 12
#define TOPICS 40

struct subscription {
	struct subscription *next;
	size_t size;
	char client[40];
};

static struct subscription *subscriptions;
static char *retained[TOPICS];

static struct subscription *new_subscription(const char *client)
{
	struct subscription *s = malloc(sizeof(*s));

	snprintf(s->client, sizeof(s->client), "%s", client);
	s->size = strlen(client) + 1;
	s->next = subscriptions;
	subscriptions = s;
	return s;
}

static struct subscription *find_subscription(const char *client)
{
	for (struct subscription *s = subscriptions; s; s = s->next)
		if (s->size == strlen(client) && !strcmp(s->client, client))
			return s;
	return NULL;
}

static void retain_message(unsigned int topic)
{
	free(retained[topic]);
	retained[topic] = calloc(1, 30 + pick(200));
}

int main(int argc, char **argv)
{
	char client[40];

	serve_for(argc, argv);
	while (serving(15)) {
		retain_message(pick(TOPICS));
		if (pick(5))
			continue;
		snprintf(client, sizeof(client), "sensor-%u", pick(CLIENTS));
		if (!find_subscription(client))
			new_subscription(client);
	}
	return 0;
}
