/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CLI_MEMORY_H
#define CALLTRAP_CLI_MEMORY_H

#include "cli/options.h"

/* calltrap memory -p PID; returns the exit status. */
int memory_run(const struct options *options);

#endif
