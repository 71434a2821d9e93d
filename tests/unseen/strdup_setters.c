/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Two setters: one frees the old value, the other, which differs by a line,
 * does not.
 */
#include "server.h"

struct client {
	char *title;
	char *peer;
};

static struct client clients[20];

static void set_title(struct client *c, const char *title)
{
	free(c->title);
	c->title = strdup(title);
}

static void set_peer(struct client *c, const char *peer)
{
	c->peer = strdup(peer);
}

int main(int argc, char **argv)
{
	char text[40];

	serve_for(argc, argv);
	while (serving(60)) {
		struct client *c = &clients[pick(20)];

		snprintf(text, sizeof(text), "client %u", pick(100));
		set_title(c, text);
		snprintf(text, sizeof(text), "192.0.2.%u", pick(250));
		set_peer(c, text);
	}
	return 0;
}
