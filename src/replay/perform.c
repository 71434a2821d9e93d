/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/perform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "replay/times.h"

/* One thread, and what it has measured. */
struct performer {
	struct performance *performance;
	const struct replay_thread *thread;
	pthread_t id;
	bool joined;
	uint64_t conflicts, failed;
	struct call_times times[REPLAY_KINDS];
};

/* All of it lies in memory that is shared with nobody, but counts as shared:
   so it isn't among what the allocator has taken. */
struct performance {
	const struct replay_plan *plan;
	struct replay_result *result;
	const struct replay_op *ops;
	struct performer *performers;
	_Atomic(void *) *blocks; /* by number; NULL: not yet */
	uint64_t clock;          /* ns that asking for the time takes */
	uint64_t begin;          /* monotonic */
	size_t page;
};

/* What stands for a block that could not be had. */
static char no_block;

/* ---- blocks ---- */

static void pause_for(unsigned tries)
{
	if (tries < 100)
		return;
	if (tries < 1000)
		sched_yield();
	else
		nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
}

static void *block_of(struct performer *self, const struct replay_op *op,
		      uint32_t number)
{
	_Atomic(void *) *place = &self->performance->blocks[number];
	void *block = atomic_load_explicit(place, memory_order_acquire);

	if (!block && op->waits) {
		self->conflicts++;
		for (unsigned tries = 0; !block; tries++) {
			pause_for(tries);
			block = atomic_load_explicit(place,
						     memory_order_acquire);
		}
	}
	return block == &no_block ? NULL : block;
}

static void touch(const struct performance *performance, char *block,
		  uint64_t size)
{
	for (uint64_t at = 0; at < size; at += performance->page)
		*(volatile char *)(block + at) = 1;
	if (size)
		*(volatile char *)(block + size - 1) = 1;
}

static void keep(struct performer *self, const struct replay_op *op,
		 void *block)
{
	if (!block && op->size)
		self->failed++;
	if (block && self->performance->plan->touch)
		touch(self->performance, block, op->size);
	atomic_store_explicit(&self->performance->blocks[op->block],
			      block ? block : &no_block, memory_order_release);
}

/* ---- operations ---- */

static void count_time(struct performer *self, const struct replay_op *op,
		       uint64_t begin)
{
	uint64_t took = clock_now() - begin, clock = self->performance->clock;

	call_times_add(&self->times[op->kind], took > clock ? took - clock : 0);
}

static void *acquire(const struct replay_op *op)
{
	void *block;

	switch (op->kind) {
	case REPLAY_MALLOC:
		return malloc(op->size);
	case REPLAY_CALLOC:
		return calloc(1, op->size);
	default:
		return posix_memalign(&block, op->alignment, op->size) ? NULL :
									 block;
	}
}

static void perform_resize(struct performer *self, const struct replay_op *op)
{
	void *old = op->old ? block_of(self, op, op->old) : NULL;
	uint64_t begin = clock_now();
	void *block = realloc(old, op->size);

	count_time(self, op, begin);
	keep(self, op, block);
}

static void perform_release(struct performer *self, const struct replay_op *op)
{
	void *block = op->block ? block_of(self, op, op->block) : NULL;
	uint64_t begin = clock_now();

	free(block);
	count_time(self, op, begin);
}

static void perform_acquisition(struct performer *self,
				const struct replay_op *op)
{
	uint64_t begin = clock_now();
	void *block = acquire(op);

	count_time(self, op, begin);
	keep(self, op, block);
}

/* ---- threads ---- */

static void *perform_thread(void *performer);

static void start(struct performance *performance, uint32_t number)
{
	struct performer *performer = &performance->performers[number];
	pthread_attr_t attributes;
	int err;

	pthread_attr_init(&attributes);
	(void)pthread_attr_setstacksize(&attributes, 256 << 10);
	err = pthread_create(&performer->id, &attributes, perform_thread,
			     performer);
	pthread_attr_destroy(&attributes);
	if (!err)
		return;
	/* Its blocks would be waited for, for ever. */
	snprintf(performance->result->problem,
		 sizeof(performance->result->problem),
		 "no thread can be started: %s", strerror(err));
	_exit(EXIT_FAILURE);
}

static void join(struct performance *performance, uint32_t number)
{
	struct performer *performer = &performance->performers[number];

	if (!performer->joined)
		pthread_join(performer->id, NULL);
	performer->joined = true;
}

/* Less than that and a sleep is longer than what there is to wait for. */
#define SLEEP_LEAST 50000

/* It has no part in calls' times; and what came late is made up for. */
static void wait_for_its_time(const struct performer *self,
			      const struct replay_op *op)
{
	const uint64_t due = self->performance->begin + op->when;
	const struct timespec time = { .tv_sec = due / NS_PER_SECOND,
				       .tv_nsec = due % NS_PER_SECOND };

	if (clock_now() + SLEEP_LEAST >= due)
		return;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) ==
	       EINTR)
		;
}

static void perform_op(struct performer *self, const struct replay_op *op)
{
	switch (op->kind) {
	case REPLAY_REALLOC:
		perform_resize(self, op);
		break;
	case REPLAY_FREE:
		perform_release(self, op);
		break;
	case REPLAY_START:
		start(self->performance, op->block);
		break;
	case REPLAY_JOIN:
		join(self->performance, op->block);
		break;
	default:
		perform_acquisition(self, op);
	}
}

static void *perform_thread(void *performer)
{
	struct performer *self = performer;
	const struct replay_op *op =
		self->performance->ops + self->thread->first;

	for (uint64_t i = 0; i < self->thread->count; i++) {
		if (self->performance->plan->paced)
			wait_for_its_time(self, &op[i]);
		perform_op(self, &op[i]);
	}
	return NULL;
}

/* ---- what is measured ---- */

struct usage {
	uint64_t time, user, system, minor, major;
};

static uint64_t ns_of(const struct timeval *time)
{
	return time->tv_sec * NS_PER_SECOND + time->tv_usec * 1000;
}

static struct usage usage_now(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (struct usage){
		.time = clock_now(),
		.user = ns_of(&usage.ru_utime),
		.system = ns_of(&usage.ru_stime),
		.minor = usage.ru_minflt,
		.major = usage.ru_majflt,
	};
}

/* Bytes of a line of /proc/self/status, without acquiring any. */
static uint64_t status_bytes(const char *name)
{
	char text[4096];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	const char *line;

	if (fd >= 0)
		close(fd);
	text[size < 0 ? 0 : size] = 0;
	line = strstr(text, name);
	return line ? strtoull(line + strlen(name), NULL, 10) << 10 : 0;
}

/* From here on the most is counted. */
static void reset_peak(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "5", 1) != 1)
		errno = 0; /* it was the same, nearly: all was there */
	close(fd);
}

static uint64_t clock_cost(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 1000; i++) {
		uint64_t begin = clock_now(), took = clock_now() - begin;

		if (took < least)
			least = took;
	}
	return least;
}

static uint64_t above(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void measure(struct performance *performance)
{
	struct replay_result *result = performance->result;
	uint64_t resident;
	struct usage before, after;

	reset_peak();
	resident = status_bytes("VmRSS:");
	before = usage_now();
	performance->begin = before.time;
	perform_thread(&performance->performers[0]);
	for (uint64_t i = 1; i < performance->plan->threads; i++)
		join(performance, i);
	after = usage_now();
	result->peak = above(status_bytes("VmHWM:"), resident);
	result->final = above(status_bytes("VmRSS:"), resident);
	result->wall = after.time - before.time;
	result->user = after.user - before.user;
	result->system = after.system - before.system;
	result->minor_faults = after.minor - before.minor;
	result->major_faults = after.major - before.major;
}

static void sum_up(const struct performance *performance,
		   struct call_times sums[REPLAY_KINDS])
{
	struct replay_result *result = performance->result;

	for (uint64_t i = 0; i < performance->plan->threads; i++) {
		const struct performer *performer = &performance->performers[i];

		result->conflicts += performer->conflicts;
		result->failed += performer->failed;
		for (unsigned kind = 0; kind < REPLAY_KINDS; kind++)
			call_times_merge(&sums[kind], &performer->times[kind]);
	}
	for (unsigned kind = 0; kind < REPLAY_KINDS; kind++) {
		result->times[kind] = call_times_sum(&sums[kind]);
		result->operations += sums[kind].count;
	}
}

/* ---- */

static void *shared_memory(uint64_t count, size_t size)
{
	void *memory = mmap(NULL, count * size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

bool perform(const struct replay_plan *plan, struct replay_result *result)
{
	const struct replay_thread *threads = replay_plan_threads(plan);
	struct performance performance = {
		.plan = plan,
		.result = result,
		.ops = replay_plan_ops(plan),
		.performers =
			shared_memory(plan->threads, sizeof(struct performer)),
		.blocks = shared_memory(plan->blocks + 1, sizeof(void *)),
		.page = sysconf(_SC_PAGESIZE),
		.clock = clock_cost(),
	};
	struct call_times *sums = shared_memory(REPLAY_KINDS, sizeof(*sums));

	if (!performance.performers || !performance.blocks || !sums) {
		snprintf(result->problem, sizeof(result->problem),
			 "there is no memory for that many calls");
		return false;
	}
	for (uint64_t i = 0; i < plan->threads; i++) {
		performance.performers[i].performance = &performance;
		performance.performers[i].thread = &threads[i];
	}
	measure(&performance);
	sum_up(&performance, sums);
	return true;
}
