/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Subscribers come and go, for a second or for half a minute; an event is handed
 * to each of them in a copy of its own, and freed there.
 */
#include "server.h"

#define MOST 200

struct subscriber {
	double until;
	char *topic;
};

static struct subscriber *subscribers[MOST];
static unsigned int count;

static struct subscriber *subscribe(void)
{
	struct subscriber *s = malloc(sizeof(*s));
	unsigned int r = 1 + pick(100);

	s->until = uptime() + 1 + 30.0 / r + pick(8);
	s->topic = strdup(r % 2 ? "orders" : "prices");
	return s;
}

static char *copy_event(const char *topic)
{
	char *event = malloc(80);

	snprintf(event, 80, "%s: %u", topic, pick(1000));
	return event;
}

static void publish(void)
{
	char *event;

	for (unsigned int i = 0; i < count; i += 5) {
		event = copy_event(subscribers[i]->topic);
		use(event);
		free(event);
	}
}

static void unsubscribe_late(void)
{
	for (unsigned int i = 0; i < count; i++)
		if (subscribers[i]->until < uptime()) {
			free(subscribers[i]->topic);
			free(subscribers[i]);
			subscribers[i--] = subscribers[--count];
		}
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(80)) {
		if (count < MOST)
			subscribers[count++] = subscribe();
		publish();
		unsubscribe_late();
	}
	return 0;
}
