/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GZIP_H
#define CALLTRAP_GZIP_H

#include <stdbool.h>

#include "base/strbuf.h"

/* Adds the bytes, compressed as by gzip(1). */
void gzip_add(struct strbuf *out, const void *bytes, size_t size);

/* Whether bytes look like that. */
bool gzip_is(const void *bytes, size_t size);

/*
 * Adds what gzip has compressed, as long as that is no more than limit bytes.
 * -EFBIG when it is, -EINVAL when the bytes are damaged or end too early.
 */
int gzip_expand(struct strbuf *out, const void *bytes, size_t size,
		size_t limit) MUST_CHECK;

#endif
