/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Connections that compress what they send, each with a stream of its own for as
 * long as it lasts: five to twenty-five seconds.
 *
 * needs: -lz
 */
#include "server.h"
#include <zlib.h>

#define PLACES 40

struct session {
	z_stream stream;
	double until;
};

static struct session *sessions[PLACES];

static struct session *open_session(void)
{
	struct session *s = calloc(1, sizeof(*s));

	s->until = uptime() + 5 + pick(20);
	if (deflateInit2(&s->stream, 1, Z_DEFLATED, 9, 1, 0) != Z_OK)
		exit(1);
	return s;
}

static void close_session(struct session *s)
{
	deflateEnd(&s->stream);
	free(s);
}

static char *make_page(void)
{
	char *page = malloc(1000);

	memset(page, 'a' + (int)pick(26), 1000);
	return page;
}

static void serve(struct session *s)
{
	unsigned char out[2000];
	char *page = make_page();

	s->stream.next_in = (unsigned char *)page;
	s->stream.avail_in = 1000;
	s->stream.next_out = out;
	s->stream.avail_out = sizeof(out);
	deflate(&s->stream, Z_SYNC_FLUSH);
	free(page);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(50)) {
		unsigned int i = pick(PLACES);

		if (!sessions[i])
			sessions[i] = open_session();
		serve(sessions[i]);
		for (i = 0; i < PLACES; i++)
			if (sessions[i] && sessions[i]->until < uptime()) {
				close_session(sessions[i]);
				sessions[i] = NULL;
			}
	}
	return 0;
}
