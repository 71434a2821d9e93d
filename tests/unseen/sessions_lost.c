/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Sessions time out after four seconds. One in ten is renamed meanwhile, and
 * then no longer found where it is looked for: it stays in the table.
 */
#include "server.h"

#define SLOTS 4096

struct session {
	double ends;
	int renamed;
	char name[32];
};

static struct session *sessions[SLOTS];
static unsigned int begun, looked_at;

static void begin_session(void)
{
	struct session *s = malloc(sizeof(*s));

	s->ends = uptime() + 4;
	s->renamed = pick(10) == 0;
	snprintf(s->name, sizeof(s->name), "s%u", begun);
	sessions[begun++ % SLOTS] = s;
}

static void end_sessions(void)
{
	struct session *s;

	for (; looked_at < begun; looked_at++) {
		s = sessions[looked_at % SLOTS];
		if (s->ends > uptime())
			break;
		if (!s->renamed)
			free(s);
	}
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(40)) {
		begin_session();
		end_sessions();
	}
	return 0;
}
