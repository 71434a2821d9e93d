/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * THREADS ROUNDS: calls every function of malloc's family that is portable, and
 * keeps a record of each call, which it prints at the end:
 *
 *	call TID FUNCTION OLD NEW COUNT SIZE
 *
 * and what it holds by then: held BLOCKS BYTES. A third argument: it waits for
 * a line on standard input in between, having done one round before.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct record {
	const char *function;
	void *old, *new;
	size_t count, size;
};

#define RECORDS 100000
#define THREADS 16
#define KEPT 64

struct worker {
	pthread_t thread;
	pid_t tid;
	size_t rounds, used;
	struct record records[RECORDS];
	void *kept[KEPT];
	size_t sizes[KEPT];
};

static struct worker workers[THREADS];
static char output[1 << 16];

static void *note(struct worker *w, const char *function, void *old, void *new,
		  size_t count, size_t size)
{
	if (w->used < RECORDS)
		w->records[w->used++] = (struct record){ function, old, new,
							 count, size };
	return new;
}

#define MALLOC(n) note(w, "malloc", NULL, malloc(n), 1, n)
#define CALLOC(k, n) note(w, "calloc", NULL, calloc(k, n), k, n)
#define REALLOC(p, n) \
	({ void *old_ = p; note(w, "realloc", old_, realloc(old_, n), 1, n); })
#define FREE(p) \
	({ void *old_ = p; note(w, "free", old_, NULL, 1, 0); free(old_); })

static void aligned(struct worker *w, size_t i)
{
	void *p = NULL;

	FREE(note(w, "memalign", NULL, memalign(64, 100 + i), 1, 100 + i));
	FREE(note(w, "aligned_alloc", NULL, aligned_alloc(32, 64), 1, 64));
	if (posix_memalign(&p, 128, 200))
		abort();
	FREE(note(w, "posix_memalign", NULL, p, 1, 200));
}

static void failing(struct worker *w)
{
	volatile size_t too_much = (size_t)1 << 62;
	void *p = MALLOC(33);

	if (MALLOC(too_much) || CALLOC(8, too_much) || REALLOC(p, too_much))
		abort();
	if (posix_memalign(&p, 64, too_much))
		note(w, "posix_memalign", NULL, NULL, 1, too_much);
	FREE(p);
	FREE(NULL);
}

/* What was kept KEPT rounds ago is given back, or made larger. */
static void one_round(struct worker *w, size_t i)
{
	void **kept = &w->kept[i % KEPT];
	void *p = REALLOC(NULL, 16), *between;

	between = MALLOC(24);
	p = REALLOC(p, 5000 + i);
	p = REALLOC(p, 8);
	if (i % 3)
		FREE(p);
	else
		(void)REALLOC(p, 0);
	FREE(between);
	aligned(w, i);
	failing(w);
	w->sizes[i % KEPT] = i % 5 ? 10 + i : 3 * (7 + i);
	if (i % 2 || !*kept)
		FREE(*kept);
	*kept = i % 2 || !*kept ? (i % 5 ? MALLOC(10 + i) : CALLOC(3, 7 + i)) :
				  REALLOC(*kept, w->sizes[i % KEPT]);
}

static void *work(void *context)
{
	struct worker *w = context;

	w->tid = syscall(SYS_gettid);
	for (size_t i = 0; i < w->rounds; i++)
		one_round(w, i);
	return NULL;
}

static void print(const struct worker *w)
{
	size_t blocks = 0, bytes = 0;

	for (size_t i = 0; i < w->used; i++) {
		const struct record *r = &w->records[i];

		printf("call %d %s 0x%zx 0x%zx %zu %zu\n", (int)w->tid,
		       r->function, (size_t)(uintptr_t)r->old,
		       (size_t)(uintptr_t)r->new, r->count, r->size);
	}
	for (size_t i = 0; i < KEPT; i++) {
		blocks += w->kept[i] != NULL;
		bytes += w->kept[i] ? w->sizes[i] : 0;
	}
	printf("held %zu %zu\n", blocks, bytes);
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 100;
	char line[16];

	setvbuf(stdout, output, _IOFBF, sizeof(output));
	for (int i = 0; i < threads; i++)
		workers[i].rounds = argc > 3 ? 1 : rounds;
	if (argc > 3) {
		work(&workers[0]);
		workers[0].used = 0;
		workers[0].rounds = rounds;
		puts("ready");
		fflush(stdout);
		if (read(STDIN_FILENO, line, sizeof(line)) < 0)
			return 1;
	}
	for (int i = 1; i < threads; i++)
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	work(&workers[0]);
	for (int i = 1; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	for (int i = 0; i < threads; i++)
		print(&workers[i]);
	fflush(stdout);
	if (argc > 3 && read(STDIN_FILENO, line, sizeof(line)) < 0)
		return 1;
	return 0;
}
