/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CLI_HEAP_DIFF_H
#define CALLTRAP_CLI_HEAP_DIFF_H

#include "cli/options.h"

/* calltrap heap diff OLD NEW; returns the exit status. */
int heap_diff_run(const struct options *options);

#endif
