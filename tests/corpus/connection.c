/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One connection in ten keeps its buffer when it ends. */
/* truth: open_connection */
#include "corpus.h"

#define OPEN 20

struct connection {
	char *buffer;
	int ends;
} open_ones[OPEN];

PLAIN void open_connection(struct connection *connection, int now)
{
	connection->buffer = malloc(4096);
	touch(connection->buffer, 4096);
	connection->ends = now + 1 + pick(30);
}

PLAIN void close_connection(struct connection *connection)
{
	if (pick(10))
		free(connection->buffer);
	connection->buffer = NULL;
}

static void step(int i)
{
	for (int k = 0; k < OPEN; k++) {
		struct connection *connection = &open_ones[k];

		if (connection->buffer && connection->ends <= i)
			close_connection(connection);
		else if (!connection->buffer && pick(10) == 0)
			open_connection(connection, i);
	}
}
