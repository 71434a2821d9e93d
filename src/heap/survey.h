/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SURVEY_H
#define CALLTRAP_SURVEY_H

#include "heap/heap.h"

/*
 * What one walk through all live blocks says about the ages at each site. Where
 * not all is kept, a block that was seen stands for several.
 */
struct survey;

struct survey_site {
	uint64_t blocks, bytes; /* of at least the age asked for */
	struct sample_spread byte_spread;
	uint64_t seen;   /* of any age, whatever they stand for */
	uint64_t oldest; /* age, in nanoseconds */
	struct log_histogram ages;
	/* Blocks that were (at survey_busy_until()) 3 and 10 times
	   as old as nearly all became that were given back; 0 where none was. */
	uint64_t old, old_bytes;
	uint64_t seen_old, seen_very_old;
	uint64_t last_old_birth; /* of the youngest of the old ones */
	uint64_t replaced; /* for so many of them, older ones were given back:
			      see turnover_match() */
	/* Those seen that were born in the last half of the time in which they
	   could have become old. */
	uint64_t seen_old_in_last_half;
};

/* min_age: blocks that are younger are left out of .blocks, .bytes, .ages. */
struct survey *survey_new(const struct heap *heap, uint64_t now,
			  uint64_t min_age) MUST_CHECK;
void survey_free(struct survey *survey);

const struct survey_site *survey_site(const struct survey *survey,
				      const struct site *site);

/* How many of the blocks that the site holds were seen. */
uint64_t survey_seen(const struct survey *survey, const struct site *site);

/* Whether nearly all that the site holds makes up for older blocks. */
bool survey_is_replaced(const struct survey *survey, const struct site *site);

/* The same of what was found at one site, or several, that hold so many. */
bool survey_replaces(const struct survey_site *found, uint64_t blocks);

uint64_t survey_now(const struct survey *survey);

/* heap_busy_until() of the family. */
uint64_t survey_busy_until(const struct survey *survey,
			   const struct family *family);

/* The lifetime that hardly any block of the site exceeded that was given
   back; 0 if there is none. */
uint64_t site_usual_lifetime(const struct site *site);

/* Blocks that are older have outlived their kind; 0 as above. */
uint64_t site_old_age(const struct site *site);

#endif
