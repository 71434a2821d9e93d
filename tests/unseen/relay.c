/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Relays between two sides. A side has a buffer; at the end of a session that
 * of the far side is freed if there was an answer.
 */
#include "server.h"

#define SESSIONS 30

struct session {
	char *near, *far;
	int answered;
	double ends;
};

static struct session *sessions[SESSIONS];

static char *new_near_buffer(void)
{
	return malloc(4096);
}

static char *new_far_buffer(void)
{
	return malloc(8192);
}

static struct session *new_session(void)
{
	struct session *s = malloc(sizeof(*s));

	s->near = new_near_buffer();
	s->far = new_far_buffer();
	s->answered = pick(11) > 0;
	s->ends = uptime() + pick(2000) / 1000.0;
	return s;
}

static void end_session(struct session *s)
{
	free(s->near);
	if (s->answered)
		free(s->far);
	free(s);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(10)) {
		struct session **slot = &sessions[pick(SESSIONS)];

		if (!*slot) {
			*slot = new_session();
		} else if ((*slot)->ends < uptime()) {
			end_session(*slot);
			*slot = NULL;
		}
	}
	return 0;
}
