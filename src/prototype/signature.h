/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SIGNATURE_H
#define CALLTRAP_SIGNATURE_H

#include <stdbool.h>

#include "prototype/prototype.h"
#include "prototype/type.h"

#define PARAMETERS_MAX 64

/* What an argument's being there hangs on: another argument. */
enum condition_kind {
	CONDITION_NONE,
	CONDITION_BITS,  /* it has any of the bits of values[0] */
	CONDITION_VALUE, /* it is one of the values */
};

struct condition {
	enum condition_kind kind;
	unsigned argument; /* from 1 on */
	unsigned count;
	const int64_t *values;
};

struct parameter {
	const struct type *type;
	const char *name; /* or NULL */
	struct condition when;
	bool filled; /* by the function, if it succeeds; it reads nothing */
};

struct prototype {
	const struct type *result;
	enum failure failure;
	const struct parameter *parameters;
	unsigned count;
	unsigned later; /* the first that is shown after the return, or count */
	bool variadic;  /* there may be further arguments, unknown ones */
};

#endif
