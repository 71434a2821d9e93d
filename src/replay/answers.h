/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_REPLAY_ANSWERS_H
#define CALLTRAP_REPLAY_ANSWERS_H

#include <stdbool.h>

#include "base/types.h"

/*
 * Whether it is the file's allocator that answers in this process. file: its
 * path, the name that the dynamic linker has looked for, or "", the C library.
 * False: the reason is in problem.
 */
bool answers_check(const char *file, bool aligned, char *problem, size_t room);

#endif
