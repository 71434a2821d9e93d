/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_TERMINAL_LINE_H
#define CALLTRAP_TERMINAL_LINE_H

#include <stdbool.h>

#include "base/strbuf.h"

/* One line on standard error, a terminal, that is written again and again. */

/* Ctrl-S: whoever writes stands still until Ctrl-Q. */
bool terminal_line_is_held(void);

/* In place of what the line was; cut where the terminal ends. */
void terminal_line_show(struct strbuf *line);

/* Takes it away, if that can be done without a wait. */
void terminal_line_clear(void);

#endif
