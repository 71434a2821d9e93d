/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded into a program of the corpus: writes each act of the allocator
 * with its stack to the file that CORPUS_TRACE names, one a line:
 * FUNCTION BEGIN END TID RESULT OLD SIZE FRAME<FRAME<...
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 24

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void (*real_free)(void *);
static FILE *trace;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int inside;
static char early[65536];
static size_t early_used;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * UINT64_C(1000000000) + t.tv_nsec;
}

/* dlsym() may allocate while there is nothing to call. */
static void *early_memory(size_t size)
{
	void *p = early + early_used;

	early_used += (size + 15) & ~(size_t)15;
	if (early_used > sizeof(early))
		abort();
	return p;
}

static int is_early(const void *p)
{
	return (const char *)p >= early &&
	       (const char *)p < early + sizeof(early);
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("CORPUS_TRACE");
	void *frames[4];

	if (inside || real_free)
		return;
	inside = 1;
	real_malloc = dlsym(RTLD_NEXT, "malloc");
	real_calloc = dlsym(RTLD_NEXT, "calloc");
	real_realloc = dlsym(RTLD_NEXT, "realloc");
	real_free = dlsym(RTLD_NEXT, "free");
	backtrace(frames, 4);
	if (path)
		trace = fopen(path, "w");
	if (trace)
		fprintf(trace, "start %lu\n", (unsigned long)now());
	inside = 0;
}

__attribute__((destructor)) static void end(void)
{
	inside = 1;
	pthread_mutex_lock(&lock);
	if (trace) {
		fprintf(trace, "end %lu\n", (unsigned long)now());
		fclose(trace);
	}
	trace = NULL;
	pthread_mutex_unlock(&lock);
}

static void write_frames(void **frames, int count)
{
	for (int i = 2; i < count; i++) {
		char *address = (char *)frames[i] - 1;
		Dl_info info;

		if (i > 2)
			fputc('<', trace);
		if (dladdr(address, &info) && info.dli_sname)
			fprintf(trace, "%s", info.dli_sname);
		fprintf(trace, "@%lx", (unsigned long)frames[i]);
	}
}

static void write_act(const char *function, uint64_t began, uint64_t ended,
		      const void *result, const void *old, size_t size)
{
	void *frames[DEPTH];
	int count;

	if (!trace || inside)
		return;
	inside = 1;
	count = backtrace(frames, DEPTH);
	pthread_mutex_lock(&lock);
	if (trace) {
		fprintf(trace, "%s %lu %lu %d %lx %lx %zu ", function,
			(unsigned long)began, (unsigned long)ended,
			(int)gettid(), (unsigned long)result,
			(unsigned long)old, size);
		write_frames(frames, count);
		fputc('\n', trace);
	}
	pthread_mutex_unlock(&lock);
	inside = 0;
}

void *malloc(size_t size)
{
	uint64_t began = now();
	void *p;

	begin();
	if (!real_malloc)
		return early_memory(size);
	p = real_malloc(size);
	write_act("malloc", began, now(), p, NULL, size);
	return p;
}

void *calloc(size_t count, size_t size)
{
	uint64_t began = now();
	void *p;

	begin();
	if (!real_calloc)
		return early_memory(count * size);
	p = real_calloc(count, size);
	write_act("calloc", began, now(), p, NULL, count * size);
	return p;
}

void *realloc(void *old, size_t size)
{
	uint64_t began = now();
	void *p;

	begin();
	if (!real_realloc || is_early(old))
		abort();
	p = real_realloc(old, size);
	write_act("realloc", began, now(), p, old, size);
	return p;
}

void free(void *p)
{
	begin();
	if (!p || is_early(p))
		return;
	write_act("free", now(), 0, p, NULL, 0);
	real_free(p);
}
