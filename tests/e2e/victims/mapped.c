/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has all mappings that it may have, and calls f1 and labs all the time in two
 * threads; ends with 7 when standard input does, 1 for a wrong result, 3 when it
 * may have more than it can make.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, MOST = 200000 };

long f1(long i);

static atomic_bool over;
static atomic_long wrong;

static void *call(void *unused)
{
	for (long i = 0; !over; i++) {
		wrong += f1(i) != i + 1 || labs(-i) != i;
		usleep(1000);
	}
	return unused;
}

/* Every other page of a large mapping becomes readable: two mappings more. */
static bool make_all(void)
{
	char *base = mmap(NULL, (size_t)MOST * PAGE, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	long i = 0;

	if (base == MAP_FAILED)
		exit(2);
	while (i < MOST / 2 && !mprotect(base + 2 * i * PAGE, PAGE, PROT_READ))
		i++;
	return i < MOST / 2;
}

int main(void)
{
	pthread_t threads[2];
	char byte;

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, call, NULL))
			return 2;
	if (!make_all())
		return 3;
	printf("ready\n");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	over = true;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return wrong ? 1 : 7;
}
