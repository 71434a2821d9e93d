/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_FROM_H
#define CALLTRAP_HEAP_FROM_H

#include "cli/options.h"

/* calltrap heap --from: reports of a recording. The exit status. */
int heap_from_run(const struct options *options);

#endif
