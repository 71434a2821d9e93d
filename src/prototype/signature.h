/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SIGNATURE_H
#define CALLTRAP_SIGNATURE_H

#include <stdbool.h>

#include "prototype/prototype.h"
#include "prototype/type.h"

#define PARAMETERS_MAX 64

/* Condition under which an argument is present: another argument. */
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

/* What an argument may be: a number or pointer, no larger than a pointer. */
struct alternative {
	const struct type *type;
	struct condition when;
};

struct parameter {
	const struct type *type; /* type_guess if there are alternatives */
	const char *name;        /* or NULL */
	bool unshown;            /* the name */
	struct condition when;
	bool filled; /* by the function, if it succeeds; it reads nothing */
	/* The first whose condition holds is it; .when doesn't count then. */
	const struct alternative *alternatives;
	unsigned alternative_count;
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
