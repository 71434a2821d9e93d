/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CONVERT_H
#define CALLTRAP_CONVERT_H

#include "cli/options.h"

/* calltrap convert: recordings and texts into other forms. The exit status. */
int convert_run(const struct options *options);

#endif
