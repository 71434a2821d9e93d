/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Acquires at different times: some of it goes again, some at once, some never.
 * `heap_times MILLISECONDS' is how long each of the four parts takes.
 */
#include <stdlib.h>
#include <unistd.h>

#define BLOCKS 200

static void *kept[BLOCKS], *passing[BLOCKS];
static unsigned pause_us;

__attribute__((noinline)) static void keep(void)
{
	for (int i = 0; i < BLOCKS; i++)
		kept[i] = malloc(100);
}

__attribute__((noinline)) static void pass(void)
{
	for (int i = 0; i < BLOCKS; i++)
		passing[i] = malloc(3000);
}

__attribute__((noinline)) static void churn(void)
{
	for (int i = 0; i < BLOCKS; i++) {
		char *volatile block = malloc(700);

		free(block);
	}
}

int main(int argc, char **argv)
{
	pause_us = (argc > 1 ? atoi(argv[1]) : 100) * 1000;
	usleep(pause_us);
	keep();
	usleep(pause_us);
	pass();
	churn();
	usleep(pause_us);
	for (int i = 0; i < BLOCKS; i++)
		free(passing[i]);
	usleep(pause_us);
	return 0;
}
