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

#endif
