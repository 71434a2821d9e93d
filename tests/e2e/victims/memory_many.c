// SPDX-License-Identifier: GPL-2.0-or-later
// Many blocks behind few declarations: in arrays of pointers, and in a list; before
// them many that nothing declares.
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define MANY   20000
#define LENGTH 200

struct session {
	char *name;
};

struct node {
	struct node *next;
	char *text;
};

struct user {
	long id;
};

struct table {
	long count;
	struct {
		long key;
		struct user *user;
	} slots[MANY];
};

struct session **buckets;
struct node *list;
struct table table;

static void fill(void)
{
	void **undeclared = mmap(NULL, MANY * sizeof(*undeclared),
				 PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; i < MANY; i++)
		undeclared[i] = malloc(24);
	buckets = calloc(MANY, sizeof(*buckets));
	for (size_t i = 0; i < MANY; i++) {
		buckets[i] = calloc(1, sizeof(**buckets));
		table.slots[i].user = calloc(1, sizeof(struct user));
	}
	buckets[MANY - 1]->name = calloc(1, 101);
	printf("name %p\n", (void *)buckets[MANY - 1]->name);
	printf("user %p\n", (void *)table.slots[12345].user);
	for (size_t i = 0; i < LENGTH; i++) {
		struct node *node = calloc(1, sizeof(*node));

		node->next = list;
		list = node;
	}
	// The last one's.
	for (struct node *node = list; node; node = node->next)
		if (!node->next)
			node->text = calloc(1, 102);
}

// What registers and the stack had of it is written over.
static void scrub(void)
{
	volatile char room[65536];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

int main(void)
{
	fill();
	scrub();
	puts("ready");
	fflush(stdout);
	(void)getchar();
	return 0;
}
