/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PAGE_H
#define CALLTRAP_PAGE_H

#include "base/strbuf.h"
#include "report/memory/export.h"
#include "report/page/page_data.h"

/*
 * One HTML page with everything about a heap, that needs no other file and no
 * network: verdicts, a time line to choose a range of, flame graphs and tables
 * of that. Wants struct heap_options.timeline.
 */
void page_make(const struct heap_export *export, struct strbuf *out);

/* The page of data that somebody else has put together as page.js reads it.
   With "difference": of two profiles. */
void page_put(struct page_data *data, struct strbuf *out);

#endif
