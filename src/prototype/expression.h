/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_EXPRESSION_H
#define CALLTRAP_EXPRESSION_H

#include "base/types.h"

/* How many elements something has. */
enum expression_kind {
	EXPRESSION_NUMBER,
	EXPRESSION_ARGUMENT, /* .number-th, from 1 on */
	EXPRESSION_RESULT,
	EXPRESSION_ELEMENT, /* .number-th of the struct around it */
	EXPRESSION_ZERO,    /* up to a zero element, at most .limit */
};

struct expression {
	enum expression_kind kind;
	uint64_t number;
	const struct expression *limit; /* ZERO; NULL: none */
	const struct expression *times; /* another factor, or NULL */
};

#endif
