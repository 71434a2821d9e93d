/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_kinds ROUNDS: three threads acquire by each function there is, some of
 * them by pointer, and give back most of it.
 */
#include <cstdlib>
#include <cstring>

#include <pthread.h>

static void (*volatile free_by_pointer)(void *) = free;
static void *(*volatile malloc_by_pointer)(size_t) = malloc;

static void *by_posix_memalign(int i)
{
	void *block = nullptr;

	return posix_memalign(&block, 64, 32 + i % 64) ? nullptr : block;
}

static void *grown(void *block, int i)
{
	return realloc(block, 100 + i % 100);
}

static void round_of(int i)
{
	void *blocks[] = {
		malloc(16 + i % 50),
		calloc(2 + i % 3, 10),
		reallocarray(nullptr, 3 + i % 5, 16),
		by_posix_memalign(i),
		aligned_alloc(32, 64 + 32 * (i % 4)),
		strdup("a string of some length"),
		malloc_by_pointer(16 + i % 50),
	};
	void *object = operator new(20 + i % 30);

	if (i % 3 == 0)
		blocks[0] = grown(blocks[0], i);
	if (i % 5 == 0)
		blocks[2] = grown(blocks[2], i);
	for (int k = 0; k < 7; k++) {
		if (i % 10 == k)
			continue;
		if ((i + k) % 4 == 0)
			free_by_pointer(blocks[k]);
		else
			free(blocks[k]);
	}
	if (i % 10 != 8)
		operator delete(object);
}

static void *work(void *rounds)
{
	for (int i = 0; i < *static_cast<int *>(rounds); i++)
		round_of(i);
	return nullptr;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t crew[3];

	for (auto &one : crew)
		if (pthread_create(&one, nullptr, work, &rounds))
			return 1;
	for (auto &one : crew)
		pthread_join(one, nullptr);
	return 7;
}
