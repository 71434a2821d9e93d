/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PIDS_H
#define CALLTRAP_PIDS_H

#include "cli/options.h"

/*
 * The processes of -p and --name, each once. Like options_parse() these
 * print what is wrong: -EINVAL, or -ESRCH when no process has the name.
 */
int pids_add_list(struct options *options, const char *list) MUST_CHECK;
int pids_add_named(struct options *options, const char *name) MUST_CHECK;

#endif
