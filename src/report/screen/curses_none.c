/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/screen/curses.h"

/* Without ncurses every terminal is one that only takes texts. */

bool curses_begin(void)
{
	return false;
}

void curses_end(void)
{
}

unsigned curses_rows(void)
{
	return 1;
}

unsigned curses_columns(void)
{
	return 1;
}

void curses_show(const struct line *lines UNUSED, unsigned rows UNUSED)
{
}

int curses_key(unsigned milliseconds UNUSED)
{
	return 0;
}
