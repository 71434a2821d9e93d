/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/screen/curses.h"

#include <curses.h>
#include <stdlib.h>

/* An Esc that begins a key's sequence is followed by the rest that soon, ms. */
#define ESCAPE_DELAY 50

enum {
	PAIR_LIKELY = 1,
	PAIR_POSSIBLE,
};

/* https://no-color.org */
static bool wants_colours(void)
{
	const char *no_color = getenv("NO_COLOR");

	return !(no_color && *no_color) && has_colors();
}

bool curses_begin(void)
{
	if (!newterm(NULL, stdout, stdin))
		return false;
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	set_escdelay(ESCAPE_DELAY);
	curs_set(0);
	if (wants_colours() && start_color() == OK) {
		use_default_colors();
		init_pair(PAIR_LIKELY, COLOR_RED, -1);
		init_pair(PAIR_POSSIBLE, COLOR_YELLOW, -1);
	}
	return true;
}

void curses_end(void)
{
	endwin();
}

unsigned curses_rows(void)
{
	return LINES > 0 ? LINES : 1;
}

unsigned curses_columns(void)
{
	return COLS > 0 ? COLS : 1;
}

static attr_t attributes(const struct line *line)
{
	attr_t ret = A_NORMAL;

	switch (line->style) {
	case LINE_PLAIN:
		break;
	case LINE_TITLE:
		ret = A_BOLD;
		break;
	case LINE_HEADING:
	case LINE_KEYS:
		ret = A_REVERSE;
		break;
	case LINE_LIKELY:
		ret = A_BOLD | COLOR_PAIR(PAIR_LIKELY);
		break;
	case LINE_POSSIBLE:
		ret = COLOR_PAIR(PAIR_POSSIBLE);
		break;
	case LINE_FAINT:
		ret = A_DIM;
		break;
	}
	return line->selected ? (ret | A_REVERSE) : ret;
}

void curses_show(const struct line *lines, unsigned rows)
{
	erase();
	for (unsigned i = 0; i < rows; i++) {
		attr_t look = attributes(&lines[i]);

		attrset(look);
		mvaddstr(i, 0, strbuf_text(&lines[i].text));
		if (look & A_REVERSE)
			while (getcurx(stdscr) && getcury(stdscr) == (int)i &&
			       getcurx(stdscr) < COLS - 1)
				addch(' ');
	}
	attrset(A_NORMAL);
	refresh();
}

int curses_key(unsigned milliseconds)
{
	int key;

	timeout(milliseconds);
	key = getch();
	switch (key) {
	case ERR:
	case KEY_RESIZE:
		return 0;
	case KEY_UP:
		return VIEW_UP;
	case KEY_DOWN:
		return VIEW_DOWN;
	case KEY_PPAGE:
		return VIEW_PAGE_UP;
	case KEY_NPAGE:
		return VIEW_PAGE_DOWN;
	case KEY_HOME:
		return VIEW_HOME;
	case KEY_END:
		return VIEW_END;
	case KEY_ENTER:
	case '\n':
	case '\r':
		return VIEW_ENTER;
	case KEY_BACKSPACE:
	case '\b':
	case 0x7f:
		return VIEW_BACKSPACE;
	case 0x1b:
		return VIEW_ESCAPE;
	default:
		return key < 0x80 ? key : 0;
	}
}
