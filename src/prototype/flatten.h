/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FLATTEN_H
#define CALLTRAP_FLATTEN_H

#include "prototype/type.h"
#include "sysdeps/convention.h"

/* Larger values lie in memory whatever is in them. */
#define FLAT_BYTES_MAX 64

/* Each byte can be part of a number of each size and kind. */
#define FLAT_SCALARS_MAX 256

/* A type as calling conventions see it. .value points into the rest. */
struct flattened {
	struct flat_value value;
	struct scalar scalars[FLAT_SCALARS_MAX];
};

void flatten(const struct type *type, unsigned word_size,
	     struct flattened *ret);

#endif
