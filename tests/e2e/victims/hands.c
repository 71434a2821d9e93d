// SPDX-License-Identifier: GPL-2.0-or-later
// A thread is the only one to allocate, for so many ms, and then for a while that is
// another each time. Then it hands blocks to other threads, which free them, and gets the
// same memory again at once: that of all in one arena, without a cache of the thread's.
// Says how many calls of malloc() there were, how many blocks were handed over, and came
// back.
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define OTHERS 2
#define SIZE   2000
#define MS     1000000

static void *_Atomic handed;
static atomic_int freed, over;
static unsigned state;

static unsigned throw_dice(unsigned sides)
{
	state = state * 1103515245 + 12345;
	return (state >> 16) % sides;
}

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000L * MS + time.tv_nsec;
}

static void *take(void *unused)
{
	for (; !over; sched_yield()) {
		void *block = atomic_exchange(&handed, NULL);

		if (block) {
			free(block);
			freed = 1;
		}
	}
	return unused;
}

static long stay_alone(long until)
{
	long calls = 0;

	for (; now() < until; calls += 2) {
		void *one = malloc(SIZE), *two = malloc(SIZE);

		free(one);
		free(two);
	}
	return calls;
}

/* Whether it came back. */
static int hand_over(void)
{
	void *volatile block = malloc(SIZE), *again;

	freed = 0;
	handed = block;
	while (!freed)
		sched_yield();
	again = malloc(SIZE);
	free(again);
	return again == block;
}

int main(int argc, char **argv)
{
	const unsigned rounds = argc > 1 ? atoi(argv[1]) : 40;
	long calls = 0, hands = 0, back = 0;
	pthread_t others[OTHERS];
	unsigned i, k;

	state = argc > 2 ? atoi(argv[2]) : 1;
	mallopt(M_ARENA_MAX, 1);
	if (argc > 3)
		calls += stay_alone(now() + atoi(argv[3]) * MS);
	for (i = 0; i < OTHERS; i++)
		pthread_create(&others[i], NULL, take, NULL);
	for (i = 0; i < rounds; i++) {
		calls += stay_alone(now() + throw_dice(40) * MS);
		for (k = throw_dice(50); k; k--, hands++, calls += 2)
			back += hand_over();
	}
	over = 1;
	for (i = 0; i < OTHERS; i++)
		pthread_join(others[i], NULL);
	printf("%ld calls, %ld handed over, %ld came back\n", calls, hands,
	       back);
	return 0;
}
