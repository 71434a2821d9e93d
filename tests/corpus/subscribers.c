/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each request subscribes, none ends its subscription. */
/* truth: subscribe */
#include "corpus.h"

struct subscription {
	struct subscription *next;
	void (*notify)(void);
} * all;

PLAIN void subscribe(void)
{
	struct subscription *s = malloc(sizeof(*s));

	s->next = all;
	all = s;
}

PLAIN void request(void)
{
	char *p = malloc(500);

	touch(p, 500);
	subscribe();
	free(p);
}

static void step(int i)
{
	(void)i;
	if (pick(4) == 0)
		request();
}
