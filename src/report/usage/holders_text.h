/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_USAGE_HOLDERS_TEXT_H
#define CALLTRAP_USAGE_HOLDERS_TEXT_H

#include <jansson.h>

#include "base/strbuf.h"
#include "memory/holders.h"

/* Who holds what was asked for, for people; top: chains, 0 = all. */
void holders_text(const struct leaks *leaks, const struct holders *holders,
		  unsigned top, struct strbuf *out);

/* All of it; the caller's to give back. */
json_t *holders_json(const struct leaks *leaks,
		     const struct holders *holders) MUST_CHECK;

#endif
