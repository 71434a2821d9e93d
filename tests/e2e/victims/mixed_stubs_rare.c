/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library of mixed_stubs.c, built with -fno-plt. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rare(void)
{
	char from[16] = "rare", to[16], byte, *block = malloc(100);
	int right;

	memcpy(to, from, sizeof(to));
	memmove(from, to, sizeof(from));
	block[99] = 17;
	block = realloc(block, 50000);
	right = block[99] == 17 && from[3] == 'e' && read(-1, &byte, 1) == -1;
	free(block);
	return right;
}
