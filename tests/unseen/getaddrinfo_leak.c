/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Resolves numeric addresses only, so no network is needed. Those of peers are
 * not given back, those of listeners are.
 */
#include "server.h"

#include <netdb.h>
#include <sys/socket.h>

static struct addrinfo hints = {
	.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
	.ai_socktype = SOCK_STREAM,
};

static void resolve_peer(void)
{
	struct addrinfo *found;

	if (getaddrinfo("192.0.2.1", "80", &hints, &found) == 0)
		use(found);
}

static void resolve_listener(void)
{
	struct addrinfo *found;

	if (getaddrinfo("::1", "8080", &hints, &found))
		return;
	use(found);
	freeaddrinfo(found);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(250)) {
		resolve_peer();
		resolve_listener();
	}
	return 0;
}
