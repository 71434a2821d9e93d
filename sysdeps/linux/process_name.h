/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PROCESS_NAME_H
#define CALLTRAP_PROCESS_NAME_H

#include <sys/types.h>

#include "base/types.h"

/*
 * The running processes of a name, this one left out, in ascending order. The
 * name is what the kernel calls the process, or the last component of its
 * program's path or of its zeroth argument. Returns how many there are, in
 * pids_ret (to be freed), or a negative errno.
 */
long processes_named(const char *name, pid_t **pids_ret) MUST_CHECK;

#endif
