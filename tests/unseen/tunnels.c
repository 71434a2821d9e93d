/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Connections that are passed on. Most last a few seconds, some a minute and
 * more; about two hundred are there, as there were before. Each has a buffer for
 * each direction that grows when much comes at once.
 */
#include "server.h"

#define SLOTS 260

struct tunnel {
	double ends;
	char *to, *from;
	size_t to_room, from_room;
	char *peer;
};

static struct tunnel *slots[SLOTS];

static double lifetime(void)
{
	double seconds = 2 + pick(1000) / 100.0;

	return pick(4) ? seconds : 6 * seconds;
}

static char *grow_buffer(char *buffer, size_t *room, size_t need)
{
	if (need <= *room)
		return buffer;
	*room = need;
	return realloc(buffer, need);
}

static char *peer_name(void)
{
	char *peer = NULL;

	if (asprintf(&peer, "192.0.2.%u:%u", pick(256), pick(65536)) < 0)
		abort();
	return peer;
}

static struct tunnel *open_tunnel(double seconds)
{
	struct tunnel *tunnel = calloc(1, sizeof(*tunnel));

	tunnel->ends = uptime() + seconds;
	tunnel->peer = peer_name();
	return tunnel;
}

static void close_tunnel(struct tunnel *tunnel)
{
	free(tunnel->to);
	free(tunnel->from);
	free(tunnel->peer);
	free(tunnel);
}

static void pass_on(struct tunnel *tunnel)
{
	if (pick(2))
		tunnel->to = grow_buffer(tunnel->to, &tunnel->to_room,
					 256 + pick(4096));
	else
		tunnel->from = grow_buffer(tunnel->from, &tunnel->from_room,
					   256 + pick(16384));
}

static void look_at(struct tunnel **slot)
{
	if (*slot && (*slot)->ends < uptime()) {
		close_tunnel(*slot);
		*slot = NULL;
	} else if (*slot) {
		pass_on(*slot);
	} else if (pick(6) == 0) {
		*slot = open_tunnel(lifetime());
	}
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; i < 200; i++)
		slots[i] = open_tunnel(lifetime() * pick(100) / 100);
	while (serving(2))
		look_at(&slots[pick(SLOTS)]);
	return 0;
}
