/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PROFILE_CHECK_H
#define CALLTRAP_PROFILE_CHECK_H

#include <report/profile/profile.pb-c.h>
#include <stdbool.h>

#include "report/profile/reader.h"

#define PROFILE_NO_COLUMN SIZE_MAX

/* What a sample's values are. */
struct profile_types {
	size_t columns[PROFILE_VALUES]; /* or PROFILE_NO_COLUMN */
	bool growth; /* what makes a process grow: calls stand for objects */
};

/*
 * Checks a profile that somebody else may have written, and sorts locations
 * and functions by their ids. Returns what is wrong, or NULL: then all texts,
 * locations and functions that are referred to are there.
 */
const char *profile_check(Pprof__Profile *message,
			  struct profile_types *types_ret);

/* The same where a checked one has negative values: a difference has. */
const char *profile_check_signs(const Pprof__Profile *message,
				const struct profile_types *types);

const char *profile_text(const Pprof__Profile *message, int64_t index);
const Pprof__Location *profile_location(const Pprof__Profile *message,
					uint64_t id);
const Pprof__Function *profile_function(const Pprof__Profile *message,
					uint64_t id);

#endif
