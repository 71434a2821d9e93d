/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_QUOTE_H
#define CALLTRAP_QUOTE_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "base/types.h"

/*
 * Text as in C source, with escapes for what needs one. Other characters than
 * those of ASCII are left as they are where the locale (LC_CTYPE) has them.
 */

/* A single byte, in single quotes; marked as quote_text()'s. */
void quote_char(struct strbuf *out, bool marked, char c);

/* In double quotes, which have a backslash in front within them, if marked. */
void quote_text(struct strbuf *out, bool marked, const char *bytes, size_t n);

/* The same of UTF-8: what the locale doesn't have is \u00e9. */
void quote_wide(struct strbuf *out, bool marked, const char *bytes, size_t n);

#endif
