/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Messages are counted references. A subscriber whose buffer is full returns
 * without giving its reference back. Envelopes are counted as well, and right.
 */
#include "server.h"

struct message {
	unsigned int references;
	char text[90];
};

struct envelope {
	unsigned int references;
	struct message *message;
};

static struct message *new_message(void)
{
	struct message *m = calloc(1, sizeof(*m));

	m->references = 1;
	return m;
}

static void put_message(struct message *m)
{
	if (--m->references == 0)
		free(m);
}

static struct envelope *new_envelope(struct message *m)
{
	struct envelope *e = malloc(sizeof(*e));

	e->references = 2;
	e->message = m;
	return e;
}

static void put_envelope(struct envelope *e)
{
	if (--e->references == 0)
		free(e);
}

static void deliver(struct envelope *e)
{
	e->message->references++;
	if (pick(25) == 0)
		return;
	put_message(e->message);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(15)) {
		struct message *m = new_message();
		struct envelope *e = new_envelope(m);

		deliver(e);
		put_envelope(e);
		put_envelope(e);
		put_message(m);
	}
	return 0;
}
