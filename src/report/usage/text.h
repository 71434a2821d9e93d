/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_USAGE_TEXT_H
#define CALLTRAP_USAGE_TEXT_H

#include "base/strbuf.h"
#include "memory/view.h"

/* Where the memory is, for people; top: rows of a table, 0 = all. */
void memory_text(const struct memory_view *view, unsigned top,
		 struct strbuf *out);

#endif
