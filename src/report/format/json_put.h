/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_JSON_PUT_H
#define CALLTRAP_JSON_PUT_H

#include <jansson.h>

#include "base/strbuf.h"

/*
 * Appends a value as Jansson writes it (flags: JSON_COMPACT, …), but without
 * the control characters that it leaves as they are.
 */
void json_put(const json_t *value, size_t flags, struct strbuf *out);

/* What json_text(), json_address() and json_integer() make, without making that. */
void json_put_text(const char *bytes, size_t length, struct strbuf *out);
void json_put_address(taddr_t address, struct strbuf *out);
void json_put_integer(int64_t number, struct strbuf *out);

/*
 * The same in pieces, for what is too long to be kept whole: as JSON_INDENT(1) has
 * it where it stands so deep.
 */
void json_put_inside(const json_t *value, unsigned depth, struct strbuf *out);
void json_put_line(unsigned depth,
		   struct strbuf *out); /* ends one, begins one */
void json_put_key(const char *key, struct strbuf *out);

#endif
