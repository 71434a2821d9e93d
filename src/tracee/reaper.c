/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/reaper.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/xalloc.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/tracer.h"

/* A seizure takes a few µs. */
#define LONG       (NS_PER_SECOND / 50)
#define STACK_SIZE (64u << 10)

struct fetched {
	pid_t tid;
	int status;
};

struct reaper {
	pthread_t thread;
	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t changed;
	bool ends;
	uint64_t since; /* the seizure under way; 0: none */
	const pid_t *tids;
	size_t count;
	struct fetched *fetched;
	size_t fetched_count, fetched_room;
};

/* Any thread may wait for what another one traces (wait4(), __WNOTHREAD). */
static void fetch(struct reaper *reaper)
{
	for (size_t i = 0; i < reaper->count; i++) {
		struct fetched found = { .tid = reaper->tids[i] };

		if (waitpid(found.tid, &found.status, __WALL | WNOHANG) !=
		    found.tid)
			continue;
		reaper->fetched = xgrow(reaper->fetched, reaper->fetched_count,
					&reaper->fetched_room,
					sizeof(*reaper->fetched));
		reaper->fetched[reaper->fetched_count++] = found;
	}
}

static void wait_a_moment(struct reaper *reaper)
{
	struct timespec then;

	clock_gettime(CLOCK_REALTIME, &then);
	then.tv_nsec += LONG / 2;
	if (then.tv_nsec >= (long)NS_PER_SECOND) {
		then.tv_nsec -= NS_PER_SECOND;
		then.tv_sec++;
	}
	pthread_cond_timedwait(&reaper->changed, &reaper->lock, &then);
}

static void *reap(void *context)
{
	struct reaper *reaper = context;

	pthread_mutex_lock(&reaper->lock);
	while (!reaper->ends) {
		if (!reaper->since) {
			pthread_cond_wait(&reaper->changed, &reaper->lock);
			continue;
		}
		if (clock_now() - reaper->since > LONG)
			fetch(reaper);
		wait_a_moment(reaper);
	}
	pthread_mutex_unlock(&reaper->lock);
	return NULL;
}

struct reaper *reaper_start(void)
{
	struct reaper *reaper = xcalloc(1, sizeof(*reaper));

	pthread_mutex_init(&reaper->lock, NULL);
	pthread_cond_init(&reaper->changed, NULL);
	if (!thread_begin(&reaper->thread, STACK_SIZE, reap, reaper))
		return reaper;
	free(reaper);
	return NULL;
}

static void announce(struct reaper *reaper, uint64_t since, const pid_t *tids,
		     size_t count)
{
	if (!reaper)
		return;
	pthread_mutex_lock(&reaper->lock);
	reaper->since = since;
	reaper->tids = tids;
	reaper->count = count;
	pthread_cond_signal(&reaper->changed);
	pthread_mutex_unlock(&reaper->lock);
}

int reaper_seize(struct reaper *reaper, pid_t tid, unsigned long options,
		 const pid_t *tids, size_t count)
{
	int err;

	announce(reaper, clock_now(), tids, count);
	err = ptrace_seize(tid, options);
	announce(reaper, 0, NULL, 0);
	return err;
}

void reaper_end(struct reaper *reaper, struct tracer *tracer)
{
	if (!reaper)
		return;
	pthread_mutex_lock(&reaper->lock);
	reaper->ends = true;
	pthread_cond_signal(&reaper->changed);
	pthread_mutex_unlock(&reaper->lock);
	pthread_join(reaper->thread, NULL);
	for (size_t i = 0; i < reaper->fetched_count; i++)
		tracer_queue_stop(tracer, reaper->fetched[i].tid,
				  reaper->fetched[i].status);
	pthread_mutex_destroy(&reaper->lock);
	pthread_cond_destroy(&reaper->changed);
	free(reaper->fetched);
	free(reaper);
}
