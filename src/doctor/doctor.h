/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DOCTOR_H
#define CALLTRAP_DOCTOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/strbuf.h"

/*
 * What works here and on these processes (there may be none), and what would
 * make the rest work: lines of text, or (as_json) one JSON object. Nothing is
 * attached to. Returns whether all of them could be traced; without any, one's
 * own.
 */
bool doctor(const pid_t *pids, size_t count, bool as_json,
	    struct strbuf *out) MUST_CHECK;

#endif
