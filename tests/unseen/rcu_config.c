/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Readers use the present version without a lock. A new version is made every
 * half second, and old ones are freed together, when all readers have been seen
 * somewhere else: after three to five seconds.
 */
#include "server.h"

#define OLD 40

struct version {
	unsigned int number;
	char *rules[12];
};

static struct version *present, *old[OLD];
static unsigned int old_ones;

static char *copy_rule(unsigned int number)
{
	char *rule = malloc(30 + pick(60));

	sprintf(rule, "allow %u", number);
	return rule;
}

static struct version *new_version(unsigned int number)
{
	struct version *v = malloc(sizeof(*v));

	v->number = number;
	for (int i = 0; i < 12; i++)
		v->rules[i] = copy_rule(number);
	return v;
}

static void publish(unsigned int number)
{
	if (present)
		old[old_ones++] = present;
	present = new_version(number);
}

static void reclaim(void)
{
	while (old_ones) {
		struct version *v = old[--old_ones];

		for (int i = 0; i < 12; i++)
			free(v->rules[i]);
		free(v);
	}
}

static char *apply_rules(void)
{
	return strdup(present ? present->rules[pick(12)] : "none");
}

int main(int argc, char **argv)
{
	double next_reclaim = 3;

	serve_for(argc, argv);
	for (unsigned int i = 0; serving(20); i++) {
		char *text = apply_rules();

		use(text);
		free(text);
		if (i % 25 == 0)
			publish(i);
		if (uptime() > next_reclaim || old_ones == OLD) {
			reclaim();
			next_reclaim = uptime() + 3 + pick(2000) / 1000.0;
		}
	}
	return 0;
}
