/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Counts requests of each address. Buckets are looked up and never expire, and
 * there is no end of addresses; the reply is made and freed each time.
 */
#include "server.h"

struct bucket {
	struct bucket *next;
	uint32_t address;
	double tokens, at;
};

static struct bucket *table[256];

static struct bucket *new_bucket(uint32_t address)
{
	struct bucket *b = calloc(1, sizeof(*b));

	b->address = address;
	b->tokens = 10;
	b->at = uptime();
	b->next = table[address % 256];
	return table[address % 256] = b;
}

static struct bucket *find_bucket(uint32_t address)
{
	struct bucket *b = table[address % 256];

	while (b && b->address != address)
		b = b->next;
	return b ? b : new_bucket(address);
}

static int is_allowed(uint32_t address)
{
	struct bucket *b = find_bucket(address);
	double now = uptime();

	b->tokens += (now - b->at) * 2;
	b->at = now;
	if (b->tokens > 10)
		b->tokens = 10;
	return b->tokens >= 1 && b->tokens--;
}

static char *make_reply(int status)
{
	char *reply = malloc(200);

	snprintf(reply, 200, "HTTP/1.1 %d\r\n\r\n", status);
	return reply;
}

static void reply_to(uint32_t address)
{
	char *reply = make_reply(is_allowed(address) ? 200 : 429);

	use(reply);
	free(reply);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(20))
		reply_to(pick(3) ? pick(50) : 1000 + pick(4000000));
	return 0;
}
