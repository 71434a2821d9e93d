/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CLI_DOCTOR_H
#define CALLTRAP_CLI_DOCTOR_H

#include "cli/options.h"

/* Runs the verb doctor; the exit status. */
int doctor_run(const struct options *options) MUST_CHECK;

#endif
