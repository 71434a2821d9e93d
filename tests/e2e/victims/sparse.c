/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When told to, acquires much of which it writes little, and a little of which it
   writes all; then waits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define BLOCKS 16

static char *volatile kept[2 * BLOCKS];

static __attribute__((noinline)) char *reserve(void)
{
	char *block = malloc(16u << 20);

	return block ? memset(block, 1, 512u << 10) : NULL;
}

static __attribute__((noinline)) char *fill(void)
{
	char *block = malloc(1u << 20);

	return block ? memset(block, 1, 1u << 20) : NULL;
}

int main(void)
{
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	puts("ready");
	fflush(stdout);
	getchar();
	for (int i = 0; i < BLOCKS; i++) {
		kept[2 * i] = reserve();
		kept[2 * i + 1] = fill();
	}
	puts("done");
	fflush(stdout);
	pause();
	return 0;
}
