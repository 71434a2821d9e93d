/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A cache of two generations. What is found in the old one moves to the young
 * one; every six seconds the old one is dropped and the young one grows old.
 */
#include "server.h"

#define KEYS 900

struct entry {
	unsigned int key;
	char value[120];
};

static struct entry *young[KEYS], *old[KEYS];

static struct entry *load_entry(unsigned int key)
{
	struct entry *e = malloc(sizeof(*e));

	e->key = key;
	return e;
}

static struct entry *look_up(unsigned int key)
{
	if (!young[key]) {
		young[key] = old[key] ? old[key] : load_entry(key);
		old[key] = NULL;
	}
	return young[key];
}

static char *render(const struct entry *e)
{
	char *text = malloc(200);

	snprintf(text, 200, "entry %u", e->key);
	return text;
}

static void grow_old(void)
{
	for (unsigned int i = 0; i < KEYS; i++) {
		free(old[i]);
		old[i] = young[i];
		young[i] = NULL;
	}
}

int main(int argc, char **argv)
{
	double next = 6;

	serve_for(argc, argv);
	while (serving(15)) {
		char *text = render(look_up(pick(3) ? pick(40) : pick(KEYS)));

		use(text);
		free(text);
		if (uptime() > next) {
			grow_old();
			next += 6;
		}
	}
	return 0;
}
