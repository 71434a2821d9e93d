/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth: none */
#include "../corpus.h"

/* Sessions in a hash table, which expire some time after they were used last; the
   load goes up and down. */
#define BUCKETS 64
#define EXPIRES 25

struct session {
	struct session *next;
	unsigned id;
	int used;
	char *name;
	char *data;
};

static struct session *table[BUCKETS];

PLAIN static struct session *open_session(unsigned id)
{
	struct session *s = calloc(1, sizeof(*s));
	char name[32];

	snprintf(name, sizeof(name), "user-%u", id);
	s->id = id;
	s->name = strdup(name);
	s->data = malloc(64 + pick(400));
	s->next = table[id % BUCKETS];
	table[id % BUCKETS] = s;
	return s;
}

static struct session *find(unsigned id)
{
	struct session *s = table[id % BUCKETS];

	while (s && s->id != id)
		s = s->next;
	return s ? s : open_session(id);
}

static void expire(int now)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct session **at = &table[i]; *at;) {
			struct session *s = *at;

			if (now - s->used < EXPIRES) {
				at = &s->next;
				continue;
			}
			*at = s->next;
			free(s->name);
			free(s->data);
			free(s);
		}
}

static void step(int i)
{
	const unsigned load = 3 + (unsigned)(i / 30 % 5) * 3;

	for (unsigned n = 0; n < load; n++) {
		struct session *s = find(pick(300));

		s->used = i;
		touch(s->data, 64);
	}
	expire(i);
}
