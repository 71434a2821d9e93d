/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_BEGINNINGS_H
#define CALLTRAP_BEGINNINGS_H

#include "base/types.h"

/* The first bytes of blocks, as they were at one time. */
struct beginnings;

struct beginnings *beginnings_new(void) MUST_CHECK;
void beginnings_free(struct beginnings *beginnings);

/* Of a block that isn't there yet. Copied. */
void beginnings_add(struct beginnings *beginnings, uint64_t handle,
		    const uint8_t *bytes, size_t size);

/* When all are there: they can be found from now on. */
void beginnings_seal(struct beginnings *beginnings);

/* NULL: there are none of that block. */
const uint8_t *beginnings_find(const struct beginnings *beginnings,
			       uint64_t handle, size_t *size_ret);

#endif
