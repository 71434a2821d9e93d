/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "torture.h"

#include <string.h>
#include <unistd.h>

enum way { RETURNS, EXITS, IS_CANCELLED, WAYS };

struct short_life {
	struct stream *stream;
	enum way way;
	int ends[2]; /* of a pipe in which nothing comes */
};

static void last_words(void *stream)
{
	call(stream, LEAF);
}

static void die(void *context)
{
	struct short_life *life = context;
	char c;

	if (life->way == EXITS)
		pthread_exit(life);
	(void)!read(life->ends[0], &c, 1);
	fail("a cancelled thread goes on");
}

static void *live(void *context)
{
	struct short_life *life = context;

	call(life->stream, DATA);
	pthread_cleanup_push(last_words, life->stream);
	if (life->way != RETURNS)
		call_through(life->stream, die, life);
	pthread_cleanup_pop(1);
	return life;
}

void do_end(struct worker *worker)
{
	struct short_life life = {
		.stream = stream_new(),
		.way = random_below(&worker->random, WAYS),
	};
	void *value, *wanted = &life;
	pthread_t thread;
	int err;

	if (!life.stream || pipe(life.ends))
		return;
	err = pthread_create(&thread, NULL, live, &life);
	if (err) {
		fail("pthread_create: %s", strerror(err));
		return;
	}
	if (life.way == IS_CANCELLED) {
		wanted = PTHREAD_CANCELED;
		pthread_cancel(thread);
	}
	pthread_join(thread, &value);
	if (value != wanted)
		fail("thread returned %p instead of %p", value, wanted);
	close(life.ends[0]);
	close(life.ends[1]);
}
