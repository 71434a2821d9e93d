/* SPDX-License-Identifier: GPL-2.0-or-later */
#define NCURSES_WIDECHAR 1
#define _XOPEN_SOURCE_EXTENDED 1
#include <curses.h>
#include <term.h>
#include <termcap.h>
