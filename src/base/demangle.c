/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/demangle.h"

#include <libiberty/demangle.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/cxx_name.h"
#include "base/thread.h"
#include "base/xalloc.h"

/* libiberty recurses as deep as a symbol is long. */
#define LONGEST_SYMBOL 4096
#define STACK_SIZE     (16 << 20)

/*
 * There are symbols over which libiberty sits for ever: those of C++ with
 * nested conversions ("_ZN1acv" and "T_I" again and again) take exponential
 * time, and a Rust one of 20 bytes may count to 2^63 ("G" in a path that is
 * not shown). So they are given a thread, which can be stopped; it costs
 * 50 us. Short C++ names take less than a millisecond at worst (measured
 * over 10^8 of them).
 */
#define HARMLESS_LENGTH 48
#define TOO_LONG        (NS_PER_SECOND / 5)
#define PATIENCE        (NS_PER_SECOND / 20)
#define GIVE_UP_MAX     8

struct demangling {
	const char *symbol;
	int options;
	bool found;
	jmp_buf overflow;
	size_t length;
	char text[DEMANGLE_MAX + 1];
};

/*
 * The only way to stop libiberty is to leave it. It keeps its state on the
 * stack, but for the one word that the Rust demangler decodes from Punycode:
 * that is lost. For the same reason, nothing may be allocated here.
 */
static void take(const char *bytes, size_t n, void *data)
{
	struct demangling *d = data;

	if (n > DEMANGLE_MAX - d->length)
		longjmp(d->overflow, 1);
	memcpy(d->text + d->length, bytes, n);
	d->length += n;
}

static void run(struct demangling *d)
{
	if (setjmp(d->overflow))
		return;
	if (!rust_demangle_callback(d->symbol, d->options, take, d)) {
		d->length = 0;
		/* Its own limit refuses names of 1024 bytes; real ones are. */
		if (!cplus_demangle_v3_callback(d->symbol,
						d->options |
							DMGL_NO_RECURSE_LIMIT,
						take, d))
			return;
	}
	d->found = d->length > 0;
	d->text[d->length] = '\0';
}

static void *run_thread(void *data)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	run(data);
	return NULL;
}

/* The processor time that a thread has used. */
static uint64_t time_of(pthread_t thread)
{
	struct timespec ts;
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &ts))
		return 0;
	return ts.tv_sec * NS_PER_SECOND + ts.tv_nsec;
}

static bool join_until(pthread_t thread, uint64_t time)
{
	struct timespec ts = { .tv_sec = time / NS_PER_SECOND,
			       .tv_nsec = time % NS_PER_SECOND };

	return !pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &ts);
}

/*
 * Processor time counts, lest a busy machine make names unknown. All that
 * libiberty ever allocates comes with output, which is bounded: so a thread
 * that has used up its time is not inside malloc and may be cancelled.
 */
static bool join_or_cancel(pthread_t thread)
{
	while (!join_until(thread, clock_now() + PATIENCE)) {
		if (time_of(thread) < TOO_LONG)
			continue;
		pthread_cancel(thread);
		pthread_join(thread, NULL);
		return false;
	}
	return true;
}

/* Returns false when it had to be stopped. */
static bool run_bounded(struct demangling *d)
{
	pthread_t thread;

	if (thread_begin(&thread, STACK_SIZE, run_thread, d))
		return true;
	return join_or_cancel(thread);
}

/* What does not look like a mangled name is most of C. */
static bool looks_mangled(const char *symbol)
{
	return symbol[0] == '_' &&
	       (symbol[1] == 'Z' || symbol[1] == 'R' || symbol[1] == 'G');
}

static bool is_harmless(const char *symbol, size_t length)
{
	return symbol[1] == 'Z' && length <= HARMLESS_LENGTH;
}

static char *demangle_as(struct demangler *demangler, const char *symbol,
			 int options)
{
	size_t length = strnlen(symbol, LONGEST_SYMBOL + 1);
	struct demangling *d;
	char *name = NULL;

	if (!looks_mangled(symbol) || length > LONGEST_SYMBOL)
		return NULL;
	if (demangler->given_up >= GIVE_UP_MAX && !is_harmless(symbol, length))
		return NULL;
	d = xmalloc(sizeof(*d));
	d->symbol = symbol;
	d->options = options;
	d->length = 0;
	d->found = false;
	if (is_harmless(symbol, length))
		run(d);
	else if (!run_bounded(d))
		demangler->given_up++;
	if (d->found)
		name = xstrndup(d->text, d->length);
	free(d);
	return name;
}

char *demangle(struct demangler *demangler, const char *symbol)
{
	char *name = demangle_exactly(demangler, symbol, true);

	if (name)
		cxx_name_shorten(name);
	return name;
}

char *demangle_exactly(struct demangler *demangler, const char *symbol,
		       bool parameters)
{
	return demangle_as(demangler, symbol,
			   DMGL_ANSI | DMGL_PARAMS * parameters);
}
