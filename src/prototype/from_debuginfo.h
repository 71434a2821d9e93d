/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FROM_DEBUGINFO_H
#define CALLTRAP_FROM_DEBUGINFO_H

#include "base/pool.h"
#include "debuginfo/debuginfo.h"
#include "prototype/signature.h"

/*
 * The prototype of a function that debug information describes. It lies in
 * the pool, but for the names, which are function's own.
 */
const struct prototype *from_debuginfo(struct pool *pool,
				       const struct debug_function *function);

/*
 * The type of a number, or of what nothing is known but its size. NULL when
 * values of it can't be shown.
 */
const struct type *number_from_debuginfo(struct pool *pool,
					 const struct debug_type *from);

/* A pointer to such characters, which may or may not be text. */
const struct type *text_from_debuginfo(struct pool *pool,
				       const struct debug_type *character);

#endif
