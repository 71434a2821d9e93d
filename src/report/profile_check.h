/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PROFILE_CHECK_H
#define CALLTRAP_PROFILE_CHECK_H

#include <report/profile.pb-c.h>

#include "report/profile_reader.h"

/*
 * Checks a profile that somebody else may have written, and sorts locations
 * and functions by their ids. Returns what is wrong, or NULL: then all texts,
 * locations and functions that are referred to are there. columns_ret: which
 * of the samples' values are the four of a heap.
 */
const char *profile_check(Pprof__Profile *message,
			  size_t columns_ret[PROFILE_VALUES]);

const char *profile_text(const Pprof__Profile *message, int64_t index);
const Pprof__Location *profile_location(const Pprof__Profile *message,
					uint64_t id);
const Pprof__Function *profile_function(const Pprof__Profile *message,
					uint64_t id);

#endif
