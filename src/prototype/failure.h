/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FAILURE_H
#define CALLTRAP_FAILURE_H

#include <stdbool.h>

#include "prototype/arguments.h"

/* What is shown in place of a result, whatever its type. */
enum failure_result {
	RESULT_AS_IT_IS,
	RESULT_MINUS_ONE, /* it has failed, and that is what says so */
	RESULT_NONE,      /* a signal came; the system call is made again, or
			     ends with EINTR */
};

enum failure_result failure_result(const struct arguments *arguments);

/* Whether the result says so, or a signal has kept it from its work. */
bool failure_happened(const struct arguments *arguments);

#endif
