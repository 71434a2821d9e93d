/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table that has seen all keys at half time. */
/* truth: none */
#include "corpus.h"

struct entry {
	struct entry *next;
	int key;
} * *buckets;
int room, count;

PLAIN void enlarge(void)
{
	struct entry **old = buckets;
	int old_room = room;

	room = room ? room * 2 : 8;
	buckets = calloc(room, sizeof(*buckets));
	for (int i = 0; i < old_room; i++) {
		while (old[i]) {
			struct entry *entry = old[i];

			old[i] = entry->next;
			entry->next = buckets[entry->key % room];
			buckets[entry->key % room] = entry;
		}
	}
	free(old);
}

PLAIN void add(int key)
{
	struct entry *entry;

	if (count >= room)
		enlarge();
	for (entry = buckets[key % room]; entry; entry = entry->next)
		if (entry->key == key)
			return;
	entry = malloc(sizeof(*entry));
	entry->key = key;
	entry->next = buckets[key % room];
	buckets[key % room] = entry;
	count++;
}

static void step(int i)
{
	for (int k = 0; k < 4; k++)
		add((i % (STEPS / 2)) * 4 + k);
}
