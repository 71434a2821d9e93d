/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FORMAT_H
#define CALLTRAP_FORMAT_H

#include <stdbool.h>

#include "prototype/type.h"

#define FORMAT_NO_PRECISION (-1)

enum conversion_kind {
	CONVERSION_NONE,    /* takes no argument: %%, %m */
	CONVERSION_VALUE,   /* of .type */
	CONVERSION_STRING,  /* of at most .precision bytes */
	CONVERSION_UNKNOWN, /* what comes behind it can't be told either */
};

/* What a conversion of a printf-style format takes from the arguments. */
struct conversion {
	enum conversion_kind kind;
	bool star_width;
	bool star_precision;
	int64_t precision;
	struct type type;
};

/*
 * Reads the next conversion of a NUL-terminated format; returns what is
 * behind it, or NULL when there is none.
 */
const char *format_next(const char *format, struct conversion *ret);

#endif
