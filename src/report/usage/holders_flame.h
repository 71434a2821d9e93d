/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_USAGE_HOLDERS_FLAME_H
#define CALLTRAP_USAGE_HOLDERS_FLAME_H

#include "base/strbuf.h"
#include "memory/holders.h"

/*
 * Who holds blocks, as stacks: the root comes first, then what leads to them,
 * blocks of one name after each other as one; their bytes.
 */
void holders_fold(const struct holders *holders, struct strbuf *out);

/* A flame graph of these. wall: when the process was looked at, in ns since
   1970. */
void holders_draw(const struct leaks *leaks, const struct holders *holders,
		  uint64_t wall, struct strbuf *out);

#endif
