/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A message broker: each topic keeps its last message, a message waits in the
 * queue of its client for some seconds, and what a client has acknowledged by
 * half is remembered. Clients that go away leave that behind.
 */
#include "server.h"

#define TOPICS  60
#define CLIENTS 12

struct message {
	struct message *next;
	double until;
	char text[100];
};

struct half {
	struct half *next;
	unsigned int id;
};

static char *retained[TOPICS];
static struct message *first[CLIENTS], **last[CLIENTS];
static struct half *halves[CLIENTS];

static void retain(unsigned int topic)
{
	char *text = malloc(60 + pick(200));

	sprintf(text, "topic %u", topic);
	free(retained[topic]);
	retained[topic] = text;
}

static void enqueue(unsigned int client)
{
	struct message *m = calloc(1, sizeof(*m));

	m->until = uptime() + 0.5 + pick(4000) / 1000.0;
	if (!first[client])
		last[client] = &first[client];
	*last[client] = m;
	last[client] = &m->next;
}

static void deliver(unsigned int client)
{
	struct message *m = first[client];

	if (!m || m->until > uptime())
		return;
	first[client] = m->next;
	free(m);
}

static void begin_half(unsigned int client, unsigned int id)
{
	struct half *h = malloc(sizeof(*h));

	h->id = id;
	h->next = halves[client];
	halves[client] = h;
}

static void end_half(unsigned int client)
{
	struct half *h = halves[client];

	if (!h)
		return;
	halves[client] = h->next;
	free(h);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(15); i++) {
		unsigned int client = pick(CLIENTS);

		if (i % 7 == 0)
			retain(pick(TOPICS));
		enqueue(client);
		deliver(client);
		deliver(pick(CLIENTS));
		if (i % 3 == 0)
			begin_half(client, i);
		else
			end_half(client);
		if (i % 150 == 0)
			halves[pick(CLIENTS)] = NULL;
	}
	return 0;
}
