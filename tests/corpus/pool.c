/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A free list, filled by what was needed at most. */
/* truth: none */
#include "corpus.h"

struct object {
	struct object *next;
	char data[100];
} * idle, *busy[40];

PLAIN struct object *object_new(void)
{
	struct object *object = idle;

	if (!object)
		return malloc(sizeof(*object));
	idle = object->next;
	return object;
}

PLAIN void object_put(struct object *object)
{
	object->next = idle;
	idle = object;
}

static void step(int i)
{
	(void)i;
	for (int k = 0; k < 5; k++) {
		int at = pick(40);

		if (busy[at]) {
			object_put(busy[at]);
			busy[at] = NULL;
		} else {
			busy[at] = object_new();
		}
	}
}
