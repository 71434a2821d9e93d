/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_WORKING_H
#define CALLTRAP_WORKING_H

#include "base/types.h"

/*
 * One line on standard error for what takes longer than a second, when that is
 * a terminal: for how long, how much of a file has been read, and what is being
 * done (base/doing.h). None of that is done in pieces, so the line is another
 * process's, forked for it: that sees where in the file this one is, as both
 * have the descriptor.
 */

/* fd: what is read; -1: no file, or how much of it can't be told. What is being
   done takes the place of what was. */
void working_begin(int fd, const char *format, ...) PRINTF_LIKE(2, 3);

/* The line is gone. */
void working_end(void);

/* So it is, but comes back: something else is written in between. */
void working_pause(void);
void working_resume(void);

#endif
