/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Timers that run off are freed. Those that are cancelled before, one in six,
 * are only taken out of the wheel.
 */
#include "server.h"

#define SLOTS 64

struct timer {
	struct timer *next;
	unsigned int number;
};

static struct timer *wheel[SLOTS];

static void add_timer(unsigned int now)
{
	struct timer *t = malloc(sizeof(*t));
	struct timer **slot = &wheel[(now + 1 + pick(SLOTS - 1)) % SLOTS];

	t->number = now;
	t->next = *slot;
	*slot = t;
}

static void cancel_timer(void)
{
	struct timer **slot = &wheel[pick(SLOTS)];

	if (*slot)
		*slot = (*slot)->next;
}

static void run_timers(unsigned int now)
{
	struct timer *t;

	while ((t = wheel[now % SLOTS])) {
		wheel[now % SLOTS] = t->next;
		free(t);
	}
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(30); i++) {
		run_timers(i);
		add_timer(i);
		if (i % 6 == 0)
			cancel_timer();
	}
	return 0;
}
