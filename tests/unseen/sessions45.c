/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Sessions end 45 seconds after they have begun. The server was restarted and
 * has read the sessions that there were, so each second as many end as begin.
 */
#include "server.h"

#define A_SECOND 6
#define TIMEOUT 45

struct session {
	struct session *next;
	double ends;
	char user[48];
};

static struct session *first, **last = &first;

static void add_session(struct session *s, double ends)
{
	s->ends = ends;
	s->next = NULL;
	*last = s;
	last = &s->next;
}

static void begin_session(void)
{
	struct session *s = malloc(sizeof(*s));

	snprintf(s->user, sizeof(s->user), "user%u", pick(1000));
	add_session(s, uptime() + TIMEOUT);
}

static void restore_session(double ends)
{
	add_session(calloc(1, sizeof(struct session)), ends);
}

static void end_sessions(void)
{
	struct session *s;

	while ((s = first) && s->ends < uptime()) {
		first = s->next;
		if (!first)
			last = &first;
		free(s);
	}
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (int i = 1; i < TIMEOUT * A_SECOND; i++)
		restore_session((double)i / A_SECOND);
	while (serving(1000 / A_SECOND)) {
		begin_session();
		end_sessions();
	}
	return 0;
}
