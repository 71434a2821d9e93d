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
};

/* How a result says that the function has failed. */
enum failure {
	FAILURE_UNKNOWN,  /* nobody knows */
	FAILURE_ERRNO,    /* -1, or a null pointer: errno says why */
	FAILURE_ERRNUM,   /* it is an error number, 0 is none */
	FAILURE_ZERO,
	FAILURE_NONZERO,
	FAILURE_NEGATIVE,
	FAILURE_KERNEL,   /* -4095 to -1: a negated error number */
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
