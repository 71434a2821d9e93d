/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cache without a limit, and keys that never come again. */
/* truth: cache_put */
#include "corpus.h"

#define BUCKETS 64

struct entry {
	struct entry *next;
	int key;
	char value[120];
} * buckets[BUCKETS];

PLAIN void cache_put(int key)
{
	struct entry *entry = malloc(sizeof(*entry));

	entry->key = key;
	entry->next = buckets[key % BUCKETS];
	buckets[key % BUCKETS] = entry;
}

PLAIN int cache_get(int key)
{
	for (struct entry *e = buckets[key % BUCKETS]; e; e = e->next)
		if (e->key == key)
			return 1;
	return 0;
}

static void step(int i)
{
	for (int k = 0; k < 3; k++)
		if (!cache_get(i * 3 + k))
			cache_put(i * 3 + k);
}
