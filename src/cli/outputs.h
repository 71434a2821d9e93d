/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_OUTPUTS_H
#define CALLTRAP_OUTPUTS_H

#include "cli/options.h"

/* The files that are written to, before there is anything to write. */

/* No two options name one file: 0, or -EINVAL, and it has been told. */
int outputs_check_names(const struct options *options) MUST_CHECK;

/*
 * Each can be written, as far as that can be known beforehand: 0, or a negative
 * errno, and all that can't have been told. Leaves no traces.
 */
int outputs_try(const struct options *options) MUST_CHECK;

#endif
