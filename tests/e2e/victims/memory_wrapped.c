/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Two wrappers of malloc(), with heads in front of what they hand out: one has
 * the size of that, with flags, the other that of all. Half of each is lost. A
 * third has no size there, so nobody knows that it is one.
 */
#define EACH 40

struct own_head {
	void *owner;
	size_t size;
	unsigned key;
};

struct whole_head {
	unsigned key;
	void *owner;
	size_t size;
};

struct marked_head {
	const char *file;
	unsigned line[4];
};

static void *kept[3][EACH];

static void *own_alloc(size_t size)
{
	struct own_head *head = malloc(sizeof(*head) + size);

	memset(head + 1, 0x55, size);
	*head = (struct own_head){ NULL, size | 2, 7 };
	return head + 1;
}

static void *whole_alloc(size_t size)
{
	struct whole_head *head = malloc(sizeof(*head) + size);

	memset(head + 1, 0x55, size);
	*head = (struct whole_head){ 5, NULL, size + sizeof(*head) };
	return head + 1;
}

static void *marked_alloc(size_t size)
{
	struct marked_head *head = malloc(sizeof(*head) + size);

	memset(head + 1, 0x55, size);
	*head = (struct marked_head){ __FILE__, { 1, 2, 3, 4 } };
	return head + 1;
}

static void *(*const allocs[])(size_t) = { own_alloc, whole_alloc,
					   marked_alloc };

/* The last of all is one with a mapping of its own. */
static void __attribute__((noinline)) fill(void)
{
	for (unsigned i = 0; i < 3; i++)
		for (unsigned j = 0; j < EACH; j++)
			kept[i][j] = allocs[i](
				j == EACH - 1 ? 1 << 20 : 200 + 8 * j);
	for (unsigned i = 0; i < 3; i++)
		memset(kept[i], 0, sizeof(kept[i]) / 2);
}

static void __attribute__((noinline)) wipe(void)
{
	volatile char below[65536];

	for (size_t i = 0; i < sizeof(below); i++)
		below[i] = 0;
}

int main(void)
{
	char c;

	fill();
	wipe();
	dprintf(1, "ready\n");
	return read(0, &c, 1) < 0;
}
