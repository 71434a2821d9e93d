/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A store in levels: records gather in a table; four tables of a level become
 * one of the next, which has the newest of each key. Keys are few, so that
 * tables of the last level replace each other.
 */
#include "server.h"

#define KEYS 400
#define LEVELS 3
#define FAN 4

struct table {
	char *records[KEYS];
};

static struct table *memory;
static struct table *levels[LEVELS][FAN];

static char *copy_record(unsigned int key)
{
	char *record = malloc(30 + pick(60));

	sprintf(record, "key%u", key);
	return record;
}

static struct table *new_table(void)
{
	return calloc(1, sizeof(struct table));
}

static void drop_table(struct table *t)
{
	for (unsigned int i = 0; i < KEYS; i++)
		free(t->records[i]);
	free(t);
}

static struct table *merge(struct table **tables)
{
	struct table *to = new_table();

	for (int i = FAN - 1; i >= 0; i--) {
		for (unsigned int key = 0; key < KEYS; key++) {
			if (to->records[key])
				continue;
			to->records[key] = tables[i]->records[key];
			tables[i]->records[key] = NULL;
		}
		drop_table(tables[i]);
		tables[i] = NULL;
	}
	return to;
}

static void add_table(unsigned int level, struct table *t)
{
	struct table **of = levels[level];
	int at = 0;

	while (of[at])
		at++;
	of[at] = t;
	if (at < FAN - 1)
		return;
	t = merge(of);
	if (level + 1 < LEVELS)
		add_table(level + 1, t);
	else
		of[0] = t;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	memory = new_table();
	for (unsigned int i = 1; serving(8); i++) {
		unsigned int key = pick(KEYS);

		free(memory->records[key]);
		memory->records[key] = copy_record(key);
		if (i % 50 == 0) {
			add_table(0, memory);
			memory = new_table();
		}
	}
	return 0;
}
