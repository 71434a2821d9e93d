/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads acquire, resize and give back memory in all of the C library's ways,
 * at random, and count what they do. Words on standard input say what next:
 *
 *	p	pour: keep 100 blocks a thread, which are not counted
 *	c	churn: so many calls a thread
 *	r	run: churn until the next word
 *	f	give all back, and forget what was counted
 *	k	keep 3 blocks more a thread
 *	s	say what was counted
 *	e	end
 *
 * A third argument leaves out what heaptrack takes no notice of: memalign,
 * reallocarray, and resizes to nothing.
 *
 * Calls are made here and nowhere else: standard output is written without
 * stdio.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 200, THREADS = 64 };

#define FUNCTIONS(F)                                                         \
	F(malloc) F(calloc) F(realloc) F(reallocarray) F(aligned_alloc)      \
	F(posix_memalign) F(memalign) F(valloc) F(free)

enum function {
#define NAME(n) CALL_##n,
	FUNCTIONS(NAME)
#undef NAME
	CALLS
};

static const char *const names[] = {
#define NAME(n) #n,
	FUNCTIONS(NAME)
#undef NAME
};

struct block {
	void *data;
	size_t size;
	bool old; /* from before it was counted */
};

struct counts {
	uint64_t calls[CALLS], failed;
	uint64_t acquired, acquired_bytes, given_back, null_frees;
	uint64_t old_frees, old_resizes, moved, in_place;
	uint64_t failed_resizes, resizes_to_nothing;
};

struct worker {
	pthread_t thread;
	uint64_t random;
	struct block blocks[BLOCKS];
	struct counts counts;
};

static struct worker workers[THREADS];
static unsigned worker_count, length;
static bool plain;
static _Atomic char word;
static _Atomic unsigned waiting;
static pthread_barrier_t before, after;
static void *volatile sink, *volatile nothing; /* gcc would know NULL */

static unsigned chance(struct worker *worker, unsigned limit)
{
	worker->random ^= worker->random << 13;
	worker->random ^= worker->random >> 7;
	worker->random ^= worker->random << 17;
	return worker->random % limit;
}

static void count_kept(struct worker *worker, struct block *block, void *data,
		       size_t size, enum function function)
{
	worker->counts.calls[function]++;
	worker->counts.acquired++;
	worker->counts.acquired_bytes += size;
	*block = (struct block){ data, size, false };
	memset(data, 1, size);
}

static void acquire(struct worker *worker, struct block *block)
{
	enum function function = chance(worker, CALL_free);
	size_t size = 1 + chance(worker, 4) * chance(worker, 500);
	void *data = NULL;

	if (plain && (function == CALL_memalign ||
		      function == CALL_reallocarray))
		function = CALL_malloc;

	if (!chance(worker, 500))
		size = 200000 + chance(worker, 100000); /* mapped */
	switch (function) {
	case CALL_calloc:
		size = 8 * (1 + size / 8);
		data = calloc(size / 8, 8);
		break;
	case CALL_realloc:
		data = realloc(nothing, size);
		break;
	case CALL_reallocarray:
		size *= 3;
		data = reallocarray(nothing, size / 3, 3);
		break;
	case CALL_aligned_alloc:
		size = 64 * (1 + size / 64);
		data = aligned_alloc(64, size);
		break;
	case CALL_posix_memalign:
		if (posix_memalign(&data, 256, size))
			abort();
		break;
	case CALL_memalign:
		data = memalign(32, size);
		break;
	case CALL_valloc:
		data = valloc(size);
		break;
	default:
		data = malloc(size);
		break;
	}
	count_kept(worker, block, data, size, function);
}

static void give_back(struct worker *worker, struct block *block)
{
	free(block->data);
	worker->counts.calls[CALL_free]++;
	if (block->old)
		worker->counts.old_frees++;
	else
		worker->counts.given_back++;
	*block = (struct block){ 0 };
}

/*
 * Grows, shrinks, to nothing (which some allocators answer with a block), and
 * beyond all there is.
 */
static void resize(struct worker *worker, struct block *block)
{
	size_t size = 1 + chance(worker, 4000);
	unsigned kind = chance(worker, 20);
	struct counts *counts = &worker->counts;
	uintptr_t old = (uintptr_t)block->data;
	void *data;

	if (kind == 0)
		size = plain;
	else if (kind == 1)
		size = (size_t)PTRDIFF_MAX - 1000;
	else if (kind < 8)
		size = 1 + chance(worker, block->size + 1);
	data = realloc(block->data, size);
	counts->calls[CALL_realloc]++;
	if (!data && size) {
		counts->failed++;
		counts->failed_resizes++;
		return;
	}
	if (block->old)
		counts->old_resizes++;
	if (!data) {
		counts->resizes_to_nothing++;
		counts->given_back += !block->old;
		*block = (struct block){ 0 };
		return;
	}
	counts->moved += (uintptr_t)data != old;
	counts->in_place += (uintptr_t)data == old;
	counts->given_back += !block->old;
	counts->acquired++;
	counts->acquired_bytes += size;
	*block = (struct block){ data, size, false };
}

static void fail(struct worker *worker)
{
	void *data;

	switch (chance(worker, 3)) {
	case 0:
		sink = malloc((size_t)PTRDIFF_MAX - chance(worker, 9));
		worker->counts.calls[CALL_malloc]++;
		break;
	case 1:
		sink = calloc(SIZE_MAX / 2, 2 + chance(worker, 9));
		worker->counts.calls[CALL_calloc]++;
		break;
	default:
		if (!posix_memalign(&data, 3, 10))
			abort();
		worker->counts.calls[CALL_posix_memalign]++;
		break;
	}
	worker->counts.failed++;
}

static void act(struct worker *worker)
{
	struct block *block = &worker->blocks[chance(worker, BLOCKS)];
	unsigned kind = chance(worker, 100);

	if (kind == 0) {
		fail(worker);
	} else if (kind == 1) {
		free(nothing);
		worker->counts.calls[CALL_free]++;
		worker->counts.null_frees++;
	} else if (!block->data) {
		acquire(worker, block);
	} else if (kind < 30) {
		resize(worker, block);
	} else {
		give_back(worker, block);
	}
}

static void pour(struct worker *worker)
{
	for (unsigned i = 0; i < 100; i++) {
		if (worker->blocks[i].data)
			give_back(worker, &worker->blocks[i]);
		acquire(worker, &worker->blocks[i]);
		worker->blocks[i].old = true;
	}
	worker->counts = (struct counts){ 0 };
}

static void give_all_back(struct worker *worker)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		if (worker->blocks[i].data)
			give_back(worker, &worker->blocks[i]);
	worker->counts = (struct counts){ 0 };
}

static void heed(struct worker *worker, char what)
{
	unsigned i;

	switch (what) {
	case 'p':
		pour(worker);
		break;
	case 'c':
		for (i = 0; i < length; i++)
			act(worker);
		break;
	case 'r':
		while (!atomic_load(&waiting))
			act(worker);
		break;
	case 'f':
		give_all_back(worker);
		break;
	case 'k':
		for (i = 0; i < 3; i++)
			acquire(worker, &worker->blocks[i]);
		break;
	}
}

static void *work(void *argument)
{
	char what;

	do {
		pthread_barrier_wait(&before);
		what = atomic_load(&word);
		heed(argument, what);
		pthread_barrier_wait(&after);
	} while (what != 'e');
	return NULL;
}

static void say(const char *format, ...)
{
	char text[200];
	va_list list;
	int size;

	va_start(list, format);
	size = vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	if (write(1, text, size) != size)
		_exit(1);
}

static void add(struct counts *sum, const struct counts *counts)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)counts;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

static void say_counts(void)
{
	struct counts sum = { 0 };
	uint64_t blocks = 0, bytes = 0;

	for (unsigned i = 0; i < worker_count; i++) {
		add(&sum, &workers[i].counts);
		for (unsigned k = 0; k < BLOCKS; k++) {
			struct block *block = &workers[i].blocks[k];

			blocks += block->data && !block->old;
			bytes += block->old ? 0 : block->size;
		}
	}
	for (unsigned i = 0; i < CALLS; i++)
		say("count MAIN %s %ju\n", names[i], (uintmax_t)sum.calls[i]);
#define SAY(field) say("count MAIN ." #field " %ju\n", (uintmax_t)sum.field)
	SAY(failed);
	SAY(acquired);
	SAY(acquired_bytes);
	SAY(given_back);
	SAY(null_frees);
	SAY(old_frees);
	SAY(old_resizes);
	SAY(moved);
	SAY(in_place);
	SAY(failed_resizes);
	SAY(resizes_to_nothing);
	say("count MAIN .blocks %ju\ncount MAIN .bytes %ju\nsaid\n",
	    (uintmax_t)blocks, (uintmax_t)bytes);
}

/* The next word; all the workers heed it. */
static void order(char what)
{
	char answer[] = "did  \n";

	atomic_store(&word, what);
	atomic_store(&waiting, what != 'r');
	pthread_barrier_wait(&before);
	answer[4] = what;
	if (what == 'r') {
		say("%s", answer);
		if (read(0, &what, 1) == 1)
			atomic_store(&waiting, 1);
	}
	pthread_barrier_wait(&after);
	if (answer[4] == 'r')
		order(what);
	else if (what != 's' && what != 'e')
		say("%s", answer);
}

int main(int argc, char **argv)
{
	char what = 0;

	worker_count = argc > 1 ? atoi(argv[1]) : 1;
	length = argc > 2 ? atoi(argv[2]) : 10000;
	plain = argc > 3;
	if (worker_count > THREADS)
		return 1;
	pthread_barrier_init(&before, NULL, worker_count + 1);
	pthread_barrier_init(&after, NULL, worker_count + 1);
	for (unsigned i = 0; i < worker_count; i++) {
		workers[i].random = 88172645463325252 + 7919 * i;
		if (pthread_create(&workers[i].thread, NULL, work,
				   &workers[i]))
			return 1;
	}
	say("ready\n");
	while (what != 'e' && read(0, &what, 1) == 1) {
		order(what);
		if (what == 's')
			say_counts();
	}
	return 0;
}
