/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FRAME_TEXT_H
#define CALLTRAP_FRAME_TEXT_H

#include "base/strbuf.h"
#include "naming/namer.h"

/*
 * What files for other programs call a frame: the function's name, escaped, or
 * "[libfoo.so+0x1234]" when that isn't known.
 */
void frame_text_add(const struct frame *frame, const struct frame_name *name,
		    struct strbuf *out);

/* The same of the function that has acquired, a symbol: "operator new(...)". */
void frame_text_add_allocator(const char *symbol, struct strbuf *out);

#endif
