/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_USAGE_DIFFERENCE_TEXT_H
#define CALLTRAP_USAGE_DIFFERENCE_TEXT_H

#include <jansson.h>

#include "base/strbuf.h"
#include "snapshot/difference.h"

/* How two snapshots differ, for people; top: rows of each fate, 0 = all. */
void difference_text(const struct snapshot *old_one,
		     const struct snapshot *new_one,
		     const struct difference *difference, unsigned top,
		     struct strbuf *out);

/* All of it; the caller's to give back. */
json_t *difference_json(const struct snapshot *old_one,
			const struct snapshot *new_one,
			const struct difference *difference) MUST_CHECK;

/* When a snapshot was taken: "2026-11-23 04:12:07", in the local time. */
void difference_add_time(const struct snapshot *snapshot, struct strbuf *out);

#endif
