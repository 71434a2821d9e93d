/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GATHER_PRIVATE_H
#define CALLTRAP_GATHER_PRIVATE_H

#include "base/hash.h"
#include "base/strbuf.h"
#include "heap/verdicts.h"
#include "report/screen/gather.h"

/* What is kept of a row from one picture to the next. */
struct memo {
	uint64_t key;
	int64_t marked;    /* what it held at the mark */
	uint64_t acquired; /* bytes, at .since */
	uint64_t since;
	double rate;
	char *name; /* of a site; NULL: not worked out yet */
	UT_hash_handle hh;
};

/* What was found out about a process the last time that all of its live blocks
   were looked at. */
struct judged {
	pid_t pid;
	uint64_t start; /* of its program */
	size_t count;   /* sites that there were */
	struct verdicts *verdicts;
	uint64_t *births; /* of the oldest block, in the heap's time */
	UT_hash_handle hh;
};

/* One row while it is added up. */
struct tally {
	struct live_row row;
	int64_t held; /* bytes, or blocks without a size */
	uint64_t acquired;
	const struct watched *process; /* BY_SITE */
	const struct site *site;
	UT_hash_handle hh;
};

struct tallies {
	struct tally *list; /* BY_SITE */
	size_t count, room;
	struct tally *table; /* all others */
};

struct gather {
	struct gather_options options;
	struct memo *memos;
	struct judged *judged;
	struct thread_cost threads[COST_THREADS]; /* the last time */
	unsigned thread_count;
	uint64_t begin, mark;
	uint64_t last; /* when a picture was made */
	bool is_marked;
	uint64_t number;
	bool unnamed; /* some rows of the last picture */
	uint64_t judged_at, judge_next;
	uint64_t next;
	/* Totals of the last time that rates were worked out. */
	uint64_t rated_at, acquired, calls, stops;
	double rate, call_rate, stop_rate, still;
	struct live_spark resident_spark, bytes_spark, rate_spark, still_spark;
};

/* NULL: nothing is kept. */
struct memo *memo_find(const struct gather *gather, uint64_t key);

/* NULL: not yet, or it has begun another program since. */
const struct judged *judged_find(const struct gather *gather,
				 const struct watched *process);

/* Rows, not in any order. */
struct tallies tallies_of(const struct gather *gather, enum live_by by);
void tallies_fini(struct tallies *tallies);

/* Whether a site belongs to a row. */
bool tally_has(enum live_by by, uint64_t key, const struct watched *process,
	       const struct site *site);

/* What a row for a site is called; false: its names aren't known yet, and what
   is there does meanwhile. */
bool gather_name(const struct gather *gather, const struct watched *process,
		 const struct site *site, struct strbuf *out);

/* Where a row's memory comes from: lines. */
void gather_stack(const struct gather *gather, enum live_by by, uint64_t key,
		  struct strbuf *out);

/* Cut, with a NUL. Never within a character. */
void gather_copy(char *ret, size_t room, const struct strbuf *text);

#endif
