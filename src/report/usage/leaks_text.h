/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_USAGE_LEAKS_TEXT_H
#define CALLTRAP_USAGE_LEAKS_TEXT_H

#include <jansson.h>

#include "base/strbuf.h"
#include "memory/leaks.h"

/* What is lost, for people; top: rows of a table, 0 = all. */
void leaks_text(const struct leaks *leaks, unsigned top, struct strbuf *out);

/* All of it, and the blocks one by one; the caller's to give back. */
json_t *leaks_json(const struct leaks *leaks) MUST_CHECK;

/* "definitely lost" */
const char *leaks_kind_name(enum reach kind);

/* For how long the process was stopped, and whether a copy of it was read. */
void leaks_add_pause(const struct leaks *leaks, struct strbuf *out);

/* That names are missing which debug information has. */
void leaks_add_curtailed(struct strbuf *out);

#endif
