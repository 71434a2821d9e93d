/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_COMPLAIN_H
#define CALLTRAP_COMPLAIN_H

#include <stdbool.h>

#include "base/types.h"

/*
 * Prints a message, "calltrap: what: why", as one line on standard error,
 * whatever control characters are in it. Returns err.
 */
int complain(int err, const char *format, ...) PRINTF_LIKE(2, 3);

/*
 * Whether tasks stand still meanwhile: a message that nobody takes within a
 * fifth of a second is dropped then, and the next ones at once.
 */
void complain_hurry(bool hurry);

/* How many were. */
uint64_t complain_dropped(void);

#endif
