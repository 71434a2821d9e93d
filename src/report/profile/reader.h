/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PROFILE_READER_H
#define CALLTRAP_PROFILE_READER_H

#include <stdbool.h>

#include "base/types.h"

/*
 * A heap profile in pprof's format, read whole. It is hostile: each number,
 * text and reference is checked, and what it may take of memory and time is
 * bounded.
 */
struct profile;

enum profile_value {
	PROFILE_ALLOC_OBJECTS,
	PROFILE_ALLOC_SPACE,
	PROFILE_INUSE_OBJECTS,
	PROFILE_INUSE_SPACE,
	PROFILE_NEEDED, /* so many have all; these calltrap's alone: */
	PROFILE_PEAK_OBJECTS = PROFILE_NEEDED,
	PROFILE_PEAK_SPACE,
	PROFILE_TEMPORARY_OBJECTS,
	PROFILE_TEMPORARY_SPACE,
	PROFILE_VALUES,
};

struct profile_frame {
	const char *function; /* "" when not known */
	const char *file;     /* … */
	uint64_t line;        /* 0: not known */
};

struct profile_sample {
	uint64_t values[PROFILE_VALUES]; /* 0 where it doesn't have them */
	const char *allocator;           /* "" when not known */
	const char *caller;    /* who is behind it, not the innermost function;
				  or "" */
	const char *library;   /* that has acquired it; or "" */
	const char *component; /* …, as --components has it; or "" */
	const struct profile_frame *frames; /* innermost first; good until the
					       next sample is asked for */
	size_t frame_count;
};

/*
 * Negative errno, and in *why_ret what is wrong with the file (a constant text)
 * or NULL when it is the errno that says it.
 */
int profile_read(const char *path, struct profile **ret,
		 const char **why_ret) MUST_CHECK;
int profile_parse(const void *bytes, size_t size, struct profile **ret,
		  const char **why_ret) MUST_CHECK;
void profile_free(struct profile *profile);

bool profile_has(const struct profile *profile, enum profile_value value);

size_t profile_sample_count(const struct profile *profile);
struct profile_sample profile_sample(struct profile *profile, size_t index);

/* Of the program; "" when not known. */
const char *profile_build_id(const struct profile *profile);

/* "heap", "mmap" or "faults", if it is a profile of such growth, whose values of
   objects are numbers of calls; NULL: of a heap. */
const char *profile_growth(const struct profile *profile);

/*
 * When watching began (since 1970) and for how long, in nanoseconds. False: it
 * isn't told; or it was with the process itself, whose profile has all.
 */
bool profile_watch(const struct profile *profile, uint64_t *start_ret,
		   uint64_t *duration_ret);

/* Ends what the profile of such a process says of itself. */
#define PROFILE_COMPLETE ", from its start"

/* When it was written (since 1970), and how long was watched for it, in
   nanoseconds; 0: it isn't told. */
struct profile_times {
	uint64_t wall, watched;
};

struct profile_times profile_times(const struct profile *profile);

/* Of all samples. */
uint64_t profile_total(const struct profile *profile, enum profile_value value);

/* Whether any sample belongs to a component. */
bool profile_has_components(const struct profile *profile);

/* What the profile says of itself; "" if nothing. */
const char *profile_comment(const struct profile *profile);

#endif
