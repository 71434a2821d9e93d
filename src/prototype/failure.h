/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FAILURE_H
#define CALLTRAP_FAILURE_H

#include <stdbool.h>

#include "prototype/arguments.h"

/* Whether it has failed and -1 is what says so, whatever the result's type. */
bool failure_is_minus_one(const struct arguments *arguments);

#endif
