/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FREEZER_H
#define CALLTRAP_FREEZER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether a task's cgroup, or one above it, is frozen (or is being frozen):
 * the task neither runs nor stops before somebody thaws it. By the freezer of
 * cgroup v1 and that of v2. root is put before every path; "" but in tests.
 * Nothing is allocated: the guardian asks this of a calltrap that has no memory.
 */
bool freezer_has_frozen(const char *root, pid_t tid);

#endif
