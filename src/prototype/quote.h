/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_QUOTE_H
#define CALLTRAP_QUOTE_H

#include "base/strbuf.h"
#include "base/types.h"

/* Adds text as in C source: 'mark' around it, escapes for what needs one. */
void quote_bytes(struct strbuf *out, char mark, const char *bytes, size_t n);

/* The same in double quotes of UTF-8: what isn't ASCII is \u00e9. */
void quote_wide(struct strbuf *out, const char *bytes, size_t n);

#endif
