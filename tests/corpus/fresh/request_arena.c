/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth: none */
#include "../corpus.h"

/* Each request carves its memory out of chunks; these go to a list when it ends, from
   which the next one takes them. A large one gives its own back. */
#define CHUNK 4096

struct chunk {
	struct chunk *next;
	size_t used, size;
	char bytes[];
};

struct arena {
	struct chunk *chunks;
};

static struct chunk *spare;

PLAIN static struct chunk *get_chunk(size_t size)
{
	struct chunk *chunk = spare;

	if (size <= CHUNK && chunk) {
		spare = chunk->next;
	} else {
		chunk = malloc(sizeof(*chunk) + (size > CHUNK ? size : CHUNK));
		chunk->size = size > CHUNK ? size : CHUNK;
	}
	chunk->used = 0;
	return chunk;
}

static void *carve(struct arena *arena, size_t size)
{
	struct chunk *chunk = arena->chunks;

	size = (size + 15) & ~(size_t)15;
	if (!chunk || chunk->size - chunk->used < size) {
		chunk = get_chunk(size);
		chunk->next = arena->chunks;
		arena->chunks = chunk;
	}
	chunk->used += size;
	return chunk->bytes + chunk->used - size;
}

static void end(struct arena *arena)
{
	while (arena->chunks) {
		struct chunk *chunk = arena->chunks;

		arena->chunks = chunk->next;
		if (chunk->size > CHUNK) {
			free(chunk);
			continue;
		}
		chunk->next = spare;
		spare = chunk;
	}
}

static void step(int i)
{
	struct arena *arenas[3];

	(void)i;
	for (int n = 0; n < 3; n++) {
		arenas[n] = calloc(1, sizeof(*arenas[n]));
		for (unsigned k = pick(200); k; k--)
			touch(carve(arenas[n], 16 + pick(300)), 16);
		if (pick(10) == 0)
			touch(carve(arenas[n], 3 * CHUNK), CHUNK);
	}
	for (int n = 0; n < 3; n++) {
		end(arenas[n]);
		free(arenas[n]);
	}
}
