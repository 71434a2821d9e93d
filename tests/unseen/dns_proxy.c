/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Passes questions on to another server by UDP and remembers who has asked. An
 * answer that is cut off is dropped, and what was remembered of its question
 * with it. Answers are kept for four seconds.
 */
#include "server.h"
#include <arpa/inet.h>
#include <sys/socket.h>

#define SLOTS 64

struct query {
	uint16_t id;
	char name[48];
};

struct answer {
	char *name;
	double until;
};

static struct query *waiting[SLOTS];
static struct answer kept[SLOTS];
static int upstream, proxy;

static struct query *remember_query(uint16_t id, const char *name)
{
	struct query *q = malloc(sizeof(*q));

	q->id = id;
	snprintf(q->name, sizeof(q->name), "%s", name);
	return q;
}

static void keep_answer(struct answer *slot, const char *name)
{
	free(slot->name);
	slot->name = strdup(name);
	slot->until = uptime() + 4;
}

static void expire(void)
{
	for (struct answer *a = kept; a < kept + SLOTS; a++)
		if (a->name && a->until < uptime()) {
			free(a->name);
			a->name = NULL;
		}
}

static void ask(uint16_t id)
{
	char name[48];

	snprintf(name, sizeof(name), "host%u.example", pick(40));
	waiting[id % SLOTS] = remember_query(id, name);
	send(proxy, &id, sizeof(id), 0);
}

static void answer(void)
{
	uint16_t id;
	size_t length = pick(8) ? sizeof(id) : 1;

	if (recv(upstream, &id, sizeof(id), 0) > 0)
		send(upstream, &id, length, 0);
}

static void take_answer(uint16_t asked)
{
	struct query **slot = &waiting[asked % SLOTS];
	uint16_t id;

	if (recv(proxy, &id, sizeof(id), 0) != sizeof(id))
		return;
	keep_answer(&kept[pick(SLOTS)], (*slot)->name);
	free(*slot);
	*slot = NULL;
}

static void connect_both(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0)
		exit(1);
	proxy = ends[0];
	upstream = ends[1];
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	connect_both();
	for (uint16_t id = 0; serving(30); id++) {
		ask(id);
		answer();
		take_answer(id);
		expire();
	}
	return 0;
}
