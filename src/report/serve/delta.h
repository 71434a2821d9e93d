/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DELTA_H
#define CALLTRAP_DELTA_H

#include "base/strbuf.h"

/* What net/http/pprof makes of a profile. Profiles are those of pprof.c, in
   memory; what can't be read as one is refused with -EINVAL. */

/* "heap" or "allocs": which of its values comes first. */
int profile_first_value(const struct strbuf *profile, const char *type,
			struct strbuf *out) MUST_CHECK;

/* What the later one has more of each than the earlier; negative: less. */
int profile_delta(const struct strbuf *before, const struct strbuf *after,
		  const char *type, struct strbuf *out) MUST_CHECK;

/* The later one, with what was acquired since the earlier one. */
int profile_since(const struct strbuf *before, const struct strbuf *after,
		  struct strbuf *out) MUST_CHECK;

/* As text: ?debug=1. */
int profile_print(const struct strbuf *profile, struct strbuf *out) MUST_CHECK;

/* Functions at addresses, "0x55d0 0x55e8" or "0x55d0+0x55e8". */
int profile_symbols(const struct strbuf *profile, const char *addresses,
		    struct strbuf *out) MUST_CHECK;

#endif
