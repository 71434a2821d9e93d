/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A resolver remembers for five seconds what doesn't exist. An answer that was
 * cut is asked for again, and the name that it was about is made a second time.
 */
#include "server.h"

#define BUCKETS 64

struct absent {
	struct absent *next;
	char *name;
	double until;
};

static struct absent *table[BUCKETS];

static char *make_name(unsigned int number)
{
	char *name = NULL;

	if (asprintf(&name, "host-%u.example.org", number) < 0)
		abort();
	return name;
}

static char *read_answer(unsigned int number)
{
	char *packet = malloc(512);

	snprintf(packet, 512, "%u", number);
	return packet;
}

static void remember_absent(char *name, unsigned int number)
{
	struct absent *a = malloc(sizeof(*a));

	a->name = name;
	a->until = uptime() + 5;
	a->next = table[number % BUCKETS];
	table[number % BUCKETS] = a;
}

static void purge(struct absent **bucket)
{
	while (*bucket) {
		struct absent *a = *bucket;

		if (a->until > uptime()) {
			bucket = &a->next;
			continue;
		}
		*bucket = a->next;
		free(a->name);
		free(a);
	}
}

static char *question(unsigned int number)
{
	char *name = make_name(number);
	char *packet = read_answer(number);
	int cut = pick(12) == 0;

	free(packet);
	if (cut)
		return question(number + 1);
	return name;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(20); i++) {
		char *name = question(pick(5000));

		if (pick(3))
			remember_absent(name, i);
		else
			free(name);
		purge(&table[i % BUCKETS]);
	}
	return 0;
}
