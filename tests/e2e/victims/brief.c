/* SPDX-License-Identifier: GPL-2.0-or-later */
/* brief CALLS: calls nothing(), malloc() and free() so often. */
#include <stdlib.h>

__attribute__((noinline)) void nothing(void)
{
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	int calls = argc > 1 ? atoi(argv[1]) : 0;

	for (int i = 0; i < calls; i++) {
		void *volatile block = malloc(16);

		nothing();
		free(block);
	}
	return 0;
}
