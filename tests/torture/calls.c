/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "torture.h"

#include <time.h>

struct nest {
	struct stream *stream;
	unsigned depth;
};

static void nested(void *context)
{
	struct nest *nest = context;

	call(nest->stream, LEAF);
	if (nest->depth--)
		call_through(nest->stream, nested, nest);
	call(nest->stream, TAIL);
}

void do_calls(struct worker *worker)
{
	static const enum function simple[] = { LEAF, DATA, TAIL };
	struct nest nest = { worker->stream, random_below(&worker->random, 6) };
	unsigned i;

	for (i = 0; i < 20; i++)
		call(worker->stream, simple[random_below(&worker->random, 3)]);
	call_through(worker->stream, nested, &nest);
}

void do_step(struct worker *worker)
{
	call(worker->stream, STEP);
}

static void tell_pause(const struct worker *worker, uint64_t time)
{
	struct beat *beat = &shared->beats[worker->index];

	if (time > atomic_load(&beat->longest))
		atomic_store(&beat->longest, time);
	atomic_fetch_add(&beat->beats, 1);
}

/* How long others keep a busy thread from going on. */
void do_beat(struct worker *worker)
{
	uint64_t last = now();
	unsigned i;

	for (i = 0; i < 100 && !atomic_load(&shared->stop); i++) {
		uint64_t time;

		call(worker->stream, i % 2 ? LEAF : DATA);
		time = now();
		tell_pause(worker, time - last);
		last = time;
	}
}

/* The same for one that mostly sleeps. */
void do_rest(struct worker *worker)
{
	const struct timespec rest = { 0, 20000000 };
	uint64_t before = now(), time;

	nanosleep(&rest, NULL);
	call(worker->stream, LEAF);
	time = now() - before;
	if (time < (uint64_t)rest.tv_nsec)
		fail("nanosleep: slept %.3f ms only", time / 1e6);
	else
		tell_pause(worker, time - rest.tv_nsec);
}
