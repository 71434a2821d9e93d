/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PROCESS_TREE_H
#define CALLTRAP_PROCESS_TREE_H

#include <sys/types.h>

#include "base/types.h"

/*
 * The children of a process that are there at this moment, and theirs; parents
 * come first. Zombies are left out, and processes of this program (of
 * /proc/self/exe) with all below them. Returns how many there are, in pids_ret
 * (to be freed), or a negative errno.
 */
long processes_below(pid_t parent, pid_t **pids_ret) MUST_CHECK;

#endif
