/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A list of thirty; the address of its last element is said. */
struct node {
	struct node *next;
	char rest[32];
};

struct node *list;

static __attribute__((noinline)) void fill(void)
{
	struct node **end = &list;

	for (int i = 0; i < 30; i++) {
		*end = calloc(1, sizeof(**end));
		if (i == 29)
			dprintf(1, "%p\n", (void *)*end);
		end = &(*end)->next;
	}
}

int main(void)
{
	volatile char below[16384];

	fill();
	memset((char *)below, 0, sizeof(below));
	for (;;)
		pause();
}
