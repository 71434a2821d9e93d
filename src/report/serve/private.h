/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SERVE_PRIVATE_H
#define CALLTRAP_SERVE_PRIVATE_H

#include "base/strbuf.h"
#include "report/profile/check.h"

/* A compressed profile; NULL: it can't be read as one. Freed by
   pprof__profile__free_unpacked(). */
Pprof__Profile *delta_unpack(const struct strbuf *bytes,
			     struct profile_types *types_ret);

#endif
