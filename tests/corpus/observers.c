/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Half of those who look away forget to say so. */
/* truth: observe */
#include "corpus.h"

struct observer {
	struct observer *next;
	int id;
} * all;

PLAIN void observe(int id)
{
	struct observer *observer = malloc(sizeof(*observer));

	observer->id = id;
	observer->next = all;
	all = observer;
}

PLAIN void look_away(int id)
{
	for (struct observer **at = &all; *at; at = &(*at)->next) {
		struct observer *found = *at;

		if (found->id != id)
			continue;
		*at = found->next;
		free(found);
		return;
	}
}

static void step(int i)
{
	observe(i);
	if (i >= 15 && pick(2))
		look_away(i - 15);
}
