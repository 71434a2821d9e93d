/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_COST_NOTE_H
#define CALLTRAP_COST_NOTE_H

#include "base/cursor.h"
#include "report/memory/config.h"

/* Notes of a recording that tell of a process: what is in their bodies. */

/* What being traced has cost. */
void cost_note_put(struct strbuf *out, const struct heap_cost *cost);
void cost_note_take(struct cursor *in, struct heap_cost *ret);

/* What the kernel has said of it. */
void sample_note_put(struct strbuf *out, const struct vitals *vitals);
void sample_note_take(struct cursor *in, struct vitals *ret);

/* How it ended, and what was lost. */
void end_note_put(struct strbuf *out, const struct watched *process);
void end_note_take(struct cursor *in, struct watched *ret);

#endif
