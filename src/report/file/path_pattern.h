/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PATH_PATTERN_H
#define CALLTRAP_PATH_PATTERN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/strbuf.h"

/*
 * Adds a path in which "%p" stands for the process id and "%%" for "%";
 * whether there is a "%p" in it.
 */
bool path_pattern_expand(const char *path, pid_t pid, struct strbuf *out);

#endif
