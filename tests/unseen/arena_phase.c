/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Compiles one unit after the other: memory comes from an arena whose chunks
 * are freed together, at the end of each unit, some seven seconds later.
 */
#include "server.h"

#define CHUNK 2048

struct chunk {
	struct chunk *next;
	size_t used;
	char bytes[CHUNK];
};

static struct chunk *arena;

static void arena_grow(void)
{
	struct chunk *c = malloc(sizeof(*c));

	c->next = arena;
	c->used = 0;
	arena = c;
}

static void *arena_get(size_t size)
{
	if (!arena || arena->used + size > CHUNK)
		arena_grow();
	arena->used += size;
	return arena->bytes + arena->used - size;
}

static void arena_clear(void)
{
	struct chunk *c;

	while ((c = arena)) {
		arena = c->next;
		free(c);
	}
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 1; serving(10); i++) {
		use(arena_get(16 + pick(400)));
		if (i % 700 == 0)
			arena_clear();
	}
	arena_clear();
	return 0;
}
