/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DURATION_H
#define CALLTRAP_DURATION_H

#include "base/types.h"

/*
 * Reads "1.5s": a decimal number with ms, s, m or h. In nanoseconds, never 0.
 * On -EINVAL message_ret says what is wrong (to be freed).
 */
int duration_parse(const char *text, uint64_t *ret,
		   char **message_ret) MUST_CHECK;

#endif
