/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/slow_reader.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

#include "base/clock.h"
#include "base/thread.h"

#define PAGE 4096

/* A task waits that long, at most once in so many seconds. */
#define PATIENCE (NS_PER_SECOND / 10)
#define REST     (10 * NS_PER_SECOND)

struct slow_reader {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool asked; /* until it has been read */
	bool ended;
	pid_t pid;
	taddr_t address;
	size_t size; /* what is wanted, then what there was */
	char bytes[PAGE];
	uint64_t rests_until; /* monotonic */
};

static void destroy(struct slow_reader *reader)
{
	pthread_cond_destroy(&reader->changed);
	pthread_mutex_destroy(&reader->lock);
	free(reader);
}

/* Without the lock: it may take for ever. */
static void read_asked(struct slow_reader *reader)
{
	struct iovec local = { reader->bytes, reader->size };
	struct iovec remote = { (void *)reader->address, reader->size };
	ssize_t n;

	pthread_mutex_unlock(&reader->lock);
	n = process_vm_readv(reader->pid, &local, 1, &remote, 1, 0);
	pthread_mutex_lock(&reader->lock);
	reader->size = n > 0 ? n : 0;
	reader->asked = false;
	pthread_cond_broadcast(&reader->changed);
}

static void *serve(void *argument)
{
	struct slow_reader *reader = argument;

	pthread_mutex_lock(&reader->lock);
	while (!reader->ended) {
		if (reader->asked)
			read_asked(reader);
		else
			pthread_cond_wait(&reader->changed, &reader->lock);
	}
	pthread_mutex_unlock(&reader->lock);
	destroy(reader);
	return NULL;
}

struct slow_reader *slow_reader_new(void)
{
	struct slow_reader *reader = calloc(1, sizeof(*reader));
	pthread_condattr_t attr;
	pthread_t thread;

	if (!reader)
		return NULL;
	pthread_mutex_init(&reader->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&reader->changed, &attr);
	pthread_condattr_destroy(&attr);
	if (!thread_begin(&thread, 0, serve, reader)) {
		pthread_detach(thread);
		return reader;
	}
	destroy(reader);
	return NULL;
}

void slow_reader_free(struct slow_reader *reader)
{
	if (!reader)
		return;
	pthread_mutex_lock(&reader->lock);
	reader->ended = true;
	pthread_cond_broadcast(&reader->changed);
	pthread_mutex_unlock(&reader->lock);
}

/* With the lock held. */
static bool has_come(struct slow_reader *reader, uint64_t deadline)
{
	const struct timespec until = {
		.tv_sec = deadline / NS_PER_SECOND,
		.tv_nsec = deadline % NS_PER_SECOND,
	};

	while (reader->asked)
		if (pthread_cond_timedwait(&reader->changed, &reader->lock,
					   &until))
			break;
	return !reader->asked;
}

static size_t ask(struct slow_reader *reader, pid_t pid, taddr_t address,
		  void *ret, size_t size)
{
	uint64_t deadline = clock_now() + PATIENCE;

	reader->pid = pid;
	reader->address = address;
	reader->size = size < PAGE ? size : PAGE;
	reader->asked = true;
	pthread_cond_broadcast(&reader->changed);
	if (!has_come(reader, deadline)) {
		reader->rests_until = deadline + REST;
		return 0;
	}
	memcpy(ret, reader->bytes, reader->size);
	return reader->size;
}

size_t slow_reader_read(struct slow_reader *reader, pid_t pid, taddr_t address,
			void *ret, size_t size)
{
	size_t n = 0;

	pthread_mutex_lock(&reader->lock);
	if (!reader->asked && clock_now() >= reader->rests_until)
		n = ask(reader, pid, address, ret, size);
	pthread_mutex_unlock(&reader->lock);
	return n;
}
