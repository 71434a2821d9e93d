/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_METRICS_H
#define CALLTRAP_METRICS_H

#include "report/memory/export.h"

/* What is watched, as OpenMetrics' text format has it: process by process, then
   all of it. */
struct metrics;

struct metrics *metrics_new(void) MUST_CHECK;
void metrics_free(struct metrics *metrics);

/* A process, with its survey. */
void metrics_add(struct metrics *metrics, const struct heap_export *export);

void metrics_print(const struct metrics *metrics, struct strbuf *out);

#endif
