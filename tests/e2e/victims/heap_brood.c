/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Acquires and gives back at random, beside a thread that does the same, and has
 * children meanwhile, two at a time: copies of itself, which have its blocks and go on, and
 * others that run this program anew.
 *
 * `heap_brood SEED ROUNDS CHILDREN' prints of each process, for each of its
 * functions, `PID NAME ACQUIRED BYTES RELEASED BYTES': what it has acquired itself,
 * and what of that was given back.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOTS 200

enum { ONE, TWO, BESIDE, FUNCTIONS };

static const char *const names[] = { "one", "two", "beside" };

struct hand {
	unsigned long long state;
	struct {
		void *block;
		size_t size;
		int function, generation;
	} slots[SLOTS];
};

static struct {
	size_t acquired, acquired_bytes, released, released_bytes;
} books[FUNCTIONS];

static struct hand own, other;
static int generation;
static volatile int enough;

static unsigned pick(struct hand *hand, unsigned n)
{
	hand->state = hand->state * 6364136223846793005u + 1442695040888963407u;
	return (hand->state >> 33) % n;
}

static void come(struct hand *hand, int slot, int function, void *block,
		 size_t size)
{
	hand->slots[slot].block = block;
	hand->slots[slot].size = size;
	hand->slots[slot].function = function;
	hand->slots[slot].generation = generation;
	books[function].acquired++;
	books[function].acquired_bytes += size;
}

static void give_back(struct hand *hand, int slot)
{
	const int function = hand->slots[slot].function;

	if (hand->slots[slot].generation == generation) {
		books[function].released++;
		books[function].released_bytes += hand->slots[slot].size;
	}
	free(hand->slots[slot].block);
	hand->slots[slot].block = NULL;
}

__attribute__((noinline)) static void one(int slot, size_t size)
{
	come(&own, slot, ONE, malloc(size), size);
}

__attribute__((noinline)) static void two(int slot, size_t size)
{
	come(&own, slot, TWO, calloc(size, 3), size * 3);
}

__attribute__((noinline)) static void beside(int slot, size_t size)
{
	come(&other, slot, BESIDE, malloc(size), size);
}

static void work(unsigned long rounds)
{
	while (rounds--) {
		const int slot = pick(&own, SLOTS);

		if (own.slots[slot].block)
			give_back(&own, slot);
		else
			(pick(&own, 2) ? one : two)(slot, 1 + pick(&own, 500));
	}
}

static void *keep_working(void *argument)
{
	while (!enough) {
		const int slot = pick(&other, SLOTS);

		if (other.slots[slot].block)
			give_back(&other, slot);
		else
			beside(slot, 1 + pick(&other, 500));
	}
	return argument;
}

/* One write for all: several processes have that file. */
static void tell(void)
{
	char text[1000];
	int size = 0;

	for (int i = 0; i < FUNCTIONS; i++)
		size += snprintf(text + size, sizeof(text) - size,
				 "%d %s %zu %zu %zu %zu\n", (int)getpid(),
				 names[i], books[i].acquired,
				 books[i].acquired_bytes, books[i].released,
				 books[i].released_bytes);
	if (write(STDOUT_FILENO, text, size) != size)
		_exit(2);
}

static void be_child(int number, unsigned long rounds)
{
	generation++;
	for (int i = 0; i < FUNCTIONS; i++)
		books[i].acquired = books[i].acquired_bytes =
			books[i].released = books[i].released_bytes = 0;
	own.state += number;
	work(rounds);
	tell();
	_exit(0);
}

static void bear(const char *name, int number, unsigned long rounds)
{
	char seed[20], count[20];
	const pid_t pid = number % 3 ? fork() : -1;

	if (pid == 0)
		be_child(number, rounds);
	if (pid > 0)
		return;
	snprintf(seed, sizeof(seed), "%d", number + 100);
	snprintf(count, sizeof(count), "%lu", rounds);
	if (vfork() == 0) {
		execl(name, name, seed, count, "0", (char *)NULL);
		_exit(3);
	}
}

static int wait_for_all(void)
{
	int failed = 0, status;

	while (wait(&status) > 0 || errno == EINTR)
		failed |= status;
	return failed;
}

int main(int argc, char **argv)
{
	const unsigned long rounds = argc > 3 ? strtoul(argv[2], NULL, 10) : 0;
	const int children = argc > 3 ? atoi(argv[3]) : 0;
	int failed = 0;
	pthread_t thread;

	if (!rounds)
		return 1;
	own.state = strtoul(argv[1], NULL, 10);
	if (children && pthread_create(&thread, NULL, keep_working, NULL))
		return 1;
	work(rounds);
	for (int i = 0; i < children; i++) {
		bear(argv[0], i, rounds);
		work(rounds / 10);
		if (i % 2)
			failed |= wait_for_all();
	}
	failed |= wait_for_all();
	enough = 1;
	if (children)
		pthread_join(thread, NULL);
	tell();
	return failed ? 4 : 0;
}
