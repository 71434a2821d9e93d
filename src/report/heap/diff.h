/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_DIFF_H
#define CALLTRAP_HEAP_DIFF_H

#include "base/hash.h"
#include "base/strbuf.h"
#include "report/heap/export.h"
#include "report/profile/reader.h"

/* Two profiles of a heap, site by site. */

struct diff_amount {
	uint64_t blocks, bytes;
};

struct diff_site {
	uint64_t *key; /* allocator, then each frame */
	size_t key_size;
	struct diff_amount before, now;
	struct profile *profile; /* where the stack can be had */
	size_t sample;
	UT_hash_handle hh;
};

/* What is compared. */
enum heap_diff_by {
	HEAP_DIFF_BY_STACK,
	HEAP_DIFF_BY_LIBRARY,
	HEAP_DIFF_BY_COMPONENT,
};

struct heap_diff {
	enum heap_value value;
	enum heap_diff_by by;
	const char *growth; /* its kind: profile_growth(); or NULL */
	bool by_line;
	struct diff_name *names;
	struct diff_site *sites; /* by key */
	struct diff_amount before, now;
	/* How long each was watched, ns; 0: that says nothing. */
	uint64_t before_ns, now_ns;
};

/*
 * Sites are the same if their stacks have the same functions and the same
 * allocator; and the same lines, if the program is the very same one (by its
 * build-id). The profiles stay the caller's. value says what is compared: what
 * is in use, or all that was allocated, and so on, which both have; and what
 * folded stacks weigh. NULL when the two are not of one kind: of a heap, or of the same kind of growth.
 *
 * Where each was watched for a time of its own, from somewhere in the middle of
 * a process's life, what it has depends on how long that was: then it is told
 * and compared per second; but for what was held at the peak.
 *
 * By library or component, a site is all that has the same.
 */
struct heap_diff *heap_diff_new(struct profile *before, struct profile *now,
				enum heap_value value,
				enum heap_diff_by by) MUST_CHECK;
void heap_diff_free(struct heap_diff *diff);

/* What the numbers of blocks are: "block", "call" or "fault". */
const char *heap_diff_counted(const struct heap_diff *diff);

static inline bool heap_diff_is_by_time(const struct heap_diff *diff)
{
	return diff->now_ns != 0;
}

/* Whether a profile has what is to be compared. */
bool heap_diff_is_told(const struct profile *profile, enum heap_value value);

bool heap_diff_is_in_use(const struct heap_diff *diff);
bool heap_diff_is_in_bytes(const struct heap_diff *diff);

/* Of a difference by that: the name of what a sample belongs to. */
const char *heap_diff_group(const struct heap_diff *diff,
			    const struct profile_sample *sample);

/* The one of the two numbers that the value means. */
uint64_t heap_diff_weight(const struct heap_diff *diff,
			  const struct diff_amount *amount);

bool diff_amount_is_nothing(const struct diff_amount *amount);
void diff_amount_add(struct diff_amount *sum, const struct diff_amount *amount);

/* What its stack ends in: "malloc", or what stands for it; nothing, for page
   faults. */
void heap_diff_add_allocator(const struct heap_diff *diff,
			     const struct profile_sample *sample,
			     struct strbuf *out);

/* What a profile is of, and how much was acquired meanwhile: two lines. what is
   "before" or "now". */
void heap_diff_add_profile(const char *what, const char *path,
			   const struct profile *profile, struct strbuf *out);

/* A table of what has changed, at most top rows of each kind (0: all). */
void heap_diff_print(struct heap_diff *diff, unsigned top, struct strbuf *out);

/* "root;...;leaf BEFORE NOW", as difffolded.pl writes it for flamegraph.pl. */
void heap_diff_fold(struct heap_diff *diff, struct strbuf *out);

/*
 * A flame graph in which a box is as wide as the larger side of each stack in
 * it, so that what has vanished is seen too. old and new name the files.
 */
void heap_diff_draw(struct heap_diff *diff, const char *old, const char *new,
		    struct strbuf *out);

/* The same as a page for a browser, with tables, search, and both directions. */
void heap_diff_make_page(const struct heap_diff *diff, const char *old,
			 const char *new, struct strbuf *out);

#endif
