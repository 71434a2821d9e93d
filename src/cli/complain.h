/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_COMPLAIN_H
#define CALLTRAP_COMPLAIN_H

#include "base/types.h"

/*
 * Prints a message, "calltrap: what: why", as one line on standard error,
 * whatever control characters are in it. Returns err.
 */
int complain(int err, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
