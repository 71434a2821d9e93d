/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SCREEN_LIVE_H
#define CALLTRAP_SCREEN_LIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/types.h"

/*
 * What calltrap top shows, handed over in memory that two processes share: the
 * one that traces, which must never wait for a terminal, and the one that waits
 * for it. All texts are printable, and cut where they are too long.
 */

/* What a row stands for. */
enum live_by {
	LIVE_BY_SITE,
	LIVE_BY_LIBRARY,
	LIVE_BY_THREAD,
	LIVE_BY_FAMILY,
	LIVE_BYS,
};

/* What comes first. */
enum live_order {
	LIVE_ORDER_VERDICT, /* … and what holds most of each */
	LIVE_ORDER_HELD,
	LIVE_ORDER_CHANGE,
	LIVE_ORDER_RATE,
	LIVE_ORDER_AGE,
	LIVE_ORDERS,
};

/* What can be saved. */
enum live_file {
	LIVE_TEXT,
	LIVE_JSON,
	LIVE_PPROF,
	LIVE_HTML,
	LIVE_FILES,
};

#define LIVE_ROWS  4096
#define LIVE_NAME  144
#define LIVE_STACK 16384
#define LIVE_SPARK 64

/* How a number has changed since the start: two points become one when there
   are too many. */
struct live_spark {
	float points[LIVE_SPARK];
	unsigned count;
	unsigned merged;  /* so many samples make a point */
	unsigned pending; /* of the one that isn't full */
};

struct live_row {
	uint64_t key; /* never 0; the same in every picture */
	uint64_t bytes, blocks;
	int64_t change;  /* of the bytes, or of blocks without a size, since
			       the mark */
	double rate;     /* bytes acquired a second; < 0: not known */
	uint64_t oldest; /* age in nanoseconds; 0: not known */
	uint8_t level;   /* enum verdict_level */
	bool has_size;
	bool has_level;
	char name[LIVE_NAME];
};

struct live_picture {
	uint64_t number;  /* from 1 on */
	uint64_t watched; /* nanoseconds */
	uint64_t marked;  /* so long ago; .watched: at the start */
	bool is_marked;
	enum live_by by;
	enum live_order order;
	char what[LIVE_NAME]; /* which processes */
	uint64_t resident, first_resident;
	uint64_t bytes, blocks;
	double rate, calls; /* bytes acquired, and calls, a second */
	double still;       /* of the time, in the last second: by how much
			       watching slows the thread that it slows most */
	double stops;       /* a second */
	/* The last thing known of leaks. */
	uint64_t likely, likely_bytes, possible, possible_bytes;
	double judged; /* so many seconds ago; < 0: never yet */
	struct live_spark resident_spark, bytes_spark, rate_spark, still_spark;
	uint64_t stack_of;      /* the key of .stack's row; 0: none */
	char stack[LIVE_STACK]; /* lines */
	size_t all;             /* rows, those that found no room too */
	size_t count;
	struct live_row rows[LIVE_ROWS];
};

struct live_shared {
	/* Three pictures: one is the latest, one may be being read, one is
	   free to be written. */
	_Atomic unsigned latest, reading;
	/* What the reader asks for. */
	_Atomic unsigned by, order;
	_Atomic uint64_t open;  /* the row whose stack is wanted */
	_Atomic unsigned marks; /* how often it was asked to set the mark */
	_Atomic unsigned saves[LIVE_FILES]; /* how often to write that */
	_Atomic bool quit;
	_Atomic bool raw; /* the terminal isn't as it was before */
	/* The writer has no more to say. */
	_Atomic bool over;
	struct live_picture pictures[3];
};

/* The one to be written next: nobody reads it. */
struct live_picture *live_blank(struct live_shared *shared);
/* It is written. */
void live_publish(struct live_shared *shared, const struct live_picture *done);
/* The latest; stays as it is until this is called again. */
const struct live_picture *live_read(struct live_shared *shared);

void live_spark_add(struct live_spark *spark, double number);

#endif
