/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Mails that can't be delivered wait for longer and longer, and are dropped
 * after six tries and some eight seconds; most go out at once.
 */
#include "server.h"

#define PLACES 600
#define TRIES 6

struct mail {
	double next_try;
	unsigned int tries;
	char text[120];
};

static struct mail *waiting[PLACES];

static struct mail *accept_mail(void)
{
	return calloc(1, sizeof(struct mail));
}

static int place(struct mail *m)
{
	for (int i = 0; i < PLACES; i++) {
		if (waiting[i])
			continue;
		waiting[i] = m;
		return 0;
	}
	return -1;
}

static void retry(struct mail **slot)
{
	struct mail *m = *slot;

	if (!m || m->next_try > uptime())
		return;
	if (pick(100) < 15 || m->tries++ == TRIES) {
		free(m);
		*slot = NULL;
	} else {
		m->next_try = uptime() + 0.07 * (1 << m->tries);
	}
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(30)) {
		struct mail *m = accept_mail();

		if (pick(5) || place(m))
			free(m);
		for (int i = 0; i < PLACES; i++)
			retry(&waiting[i]);
	}
	return 0;
}
