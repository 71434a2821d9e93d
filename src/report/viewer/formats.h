/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_VIEWER_FORMATS_H
#define CALLTRAP_VIEWER_FORMATS_H

#include "base/strbuf.h"
#include "report/memory/export.h"

/*
 * The heap in the formats of viewers, a text each. All but speedscope's want
 * struct heap_options.timeline.
 */
void speedscope_make(const struct heap_export *export, struct strbuf *out);
void dhat_make(const struct heap_export *export, struct strbuf *out);
void massif_make(const struct heap_export *export, struct strbuf *out);
void firefox_make(const struct heap_export *export, struct strbuf *out);

#endif
