/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds to a list each 10 ms, and writes a byte for each addition. */
#include <stdlib.h>
#include <unistd.h>

struct entry {
	struct entry *next;
	char text[56];
};

static struct entry *volatile list;

__attribute__((noinline)) static void add(void)
{
	struct entry *entry = malloc(sizeof(*entry));

	if (!entry)
		abort();
	entry->next = list;
	list = entry;
}

int main(void)
{
	for (;;) {
		add();
		if (write(1, "+", 1) != 1)
			return 1;
		usleep(10000);
	}
}
