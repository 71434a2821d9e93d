/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_VERDICT_H
#define CALLTRAP_VERDICT_H

#include "base/strbuf.h"
#include "heap/heap.h"
#include "heap/reached.h"
#include "heap/survey.h"
#include "heap/trend.h"

/*
 * Whether a site leaks: what the numbers say, and why. As long as no block is
 * looked for (heap/reached.h), a verdict may be wrong, and is another one when
 * more has been seen.
 */
enum verdict_level {
	VERDICT_NOT,
	VERDICT_POSSIBLE,
	VERDICT_LIKELY,
};

/* What decided. */
enum verdict_reason {
	VERDICT_ALL_FREED,    /* NOT */
	VERDICT_FEW,          /* NOT: fewer than a leak would have left */
	VERDICT_TOO_EARLY,    /* NOT: the site has only just begun */
	VERDICT_KEPT,         /* NOT: made once, and no more since */
	VERDICT_SLOWED,       /* NOT or POSSIBLE: ever fewer are added */
	VERDICT_TURNOVER,     /* NOT: none is older than they become */
	VERDICT_REPLACED,     /* NOT: as many older ones were given back */
	VERDICT_UP_AND_DOWN,  /* NOT: the number rises and falls */
	VERDICT_OLD_ONES,     /* POSSIBLE: some are far older than usual */
	VERDICT_BACKLOG,      /* POSSIBLE: more and more, of usual age */
	VERDICT_LISTED,       /* POSSIBLE: a collector will take them */
	VERDICT_COLLECTED,    /* POSSIBLE: its collector may give it back */
	VERDICT_OWNED,        /* POSSIBLE: it goes with what is collected */
	VERDICT_LARGER,       /* POSSIBLE or LIKELY: what is resized grows and
				 grows */
	VERDICT_TOGETHER,     /* POSSIBLE or LIKELY: with other sites */
	VERDICT_NEVER_FREED,  /* POSSIBLE or LIKELY: never one */
	VERDICT_OLD_AND_MORE, /* LIKELY: old ones, and more keep coming */
	VERDICT_UNREACHABLE,  /* LIKELY: nothing leads to them any more */
};

struct verdict {
	enum verdict_level level;
	enum verdict_reason reason;
	/* The evidence. Times in nanoseconds. */
	uint64_t blocks, bytes;
	uint64_t watched;        /* since the site's first block */
	uint64_t idle;           /* hardly anything was acquired by the process
				    for so long; judged is what was before */
	uint64_t silence;        /* since there were last more than before */
	uint64_t usual_lifetime; /* 0: none was given back */
	uint64_t oldest;         /* its age before .idle */
	uint64_t old_blocks;     /* far older than usual */
	uint64_t replaced;       /* older blocks that were given back while as
				    many new ones came */
	/* What of it is leaked, as far as one can tell: less than is held where
	   others of the site are given back. 0: nothing. */
	uint64_t leaked_blocks, leaked_bytes;
	/* TOGETHER: what all of these hold; or the share of the family's growth
	   that comes from the site. */
	uint64_t together_blocks, together_bytes;
	double share;
	uint64_t enough;    /* to be told by watching so long; 0: it was
				    long enough */
	struct trend trend; /* of the low water of blocks, per
				    .interval; LARGER: of bytes */
	uint64_t interval;
	double steadiness; /* 1: the low water has only risen */
	bool hasty;        /* would be LIKELY, were .watched longer */
	const struct site_reach *reach; /* NULL: wasn't looked at */
};

#define VERDICT_ENOUGH 25 /* leaked blocks that are always found */

static inline void verdict_say(struct verdict *verdict,
			       enum verdict_level level,
			       enum verdict_reason reason)
{
	verdict->level = level;
	verdict->reason = reason;
}

struct verdict verdict_of(const struct heap *heap, const struct site *site,
			  const struct survey *survey);

/* The same by these ages, and by ages and numbers alone. */
struct verdict verdict_by(const struct heap *heap, const struct site *site,
			  const struct survey_site *ages,
			  const struct survey *survey);

/* The same of several sites of a family, as if they were one. */
struct verdict verdict_together(const struct heap *heap,
				const struct site *const *sites, size_t count,
				const struct survey *survey);

const char *verdict_name(enum verdict_level level);

/* A sentence that says why, with the numbers. */
void verdict_explain(const struct verdict *verdict, const struct site *site,
		     struct strbuf *out);

#endif
