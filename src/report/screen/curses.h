/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CURSES_H
#define CALLTRAP_CURSES_H

#include <stdbool.h>

#include "report/screen/view.h"

/* The terminal. One a process. */

/* False: it can't be told where what stands. */
bool curses_begin(void);
void curses_end(void);

unsigned curses_rows(void);
unsigned curses_columns(void);

void curses_show(const struct line *lines, unsigned rows);

/* A character, or one of enum view_key; 0: none within so many ms, or the size
   has changed. */
int curses_key(unsigned milliseconds);

#endif
