/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One request in twenty asks for a trailer; its reply is then sent by a branch
 * that forgets to free it. Replies live for up to a second, in a send queue.
 */
#include "server.h"

#define QUEUE 32

static char *queue[QUEUE];

static char *make_reply(void)
{
	return calloc(1, 128);
}

static char *make_request(void)
{
	return strdup("GET /index.html HTTP/1.1");
}

static void serve(unsigned int i)
{
	char *request = make_request(), *reply = make_reply();
	int trailer = pick(20) == 0;

	free(queue[i % QUEUE]);
	queue[i % QUEUE] = trailer ? NULL : reply;
	use(reply);
	free(request);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(30); i++)
		serve(i);
	return 0;
}
