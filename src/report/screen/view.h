/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_VIEW_H
#define CALLTRAP_VIEW_H

#include "base/strbuf.h"
#include "report/screen/live.h"

/*
 * What a user has made of the live screen by pressing keys, and the lines that
 * it has then. Nothing here knows of terminals.
 */

#define VIEW_FILTER  64
#define VIEW_MESSAGE 256

/* What keys mean. */
enum view_mode {
	VIEW_ROWS,
	VIEW_HELP,    /* any key leads back */
	VIEW_FILTERS, /* letters go into the filter */
	VIEW_SAVES,   /* one says as what */
};

struct view {
	enum view_mode mode;
	char filter[VIEW_FILTER];
	char message[VIEW_MESSAGE];
	uint64_t selected; /* a row's key; 0: the first one */
	size_t first;      /* row on the screen */
	bool paused;
	struct live_picture *frozen; /* … when that was; the view's own */
	bool narrow;                 /* the terminal has ASCII alone */
};

/* Keys that are no characters. */
enum view_key {
	VIEW_UP = 0x110000,
	VIEW_DOWN,
	VIEW_PAGE_UP,
	VIEW_PAGE_DOWN,
	VIEW_HOME,
	VIEW_END,
	VIEW_ENTER,
	VIEW_BACKSPACE,
	VIEW_ESCAPE,
};

/* What is asked of who traces goes to shared. picture: what is shown; page: how
   many rows are. */
void view_key(struct view *view, struct live_shared *shared,
	      const struct live_picture *picture, unsigned page, int key);

void view_fini(struct view *view);

/* Whether the filter lets it through: its name has the text, in any case. */
bool view_shows(const struct view *view, const struct live_row *row);

/* How a line looks. */
enum line_style {
	LINE_PLAIN,
	LINE_TITLE,
	LINE_HEADING, /* of columns */
	LINE_LIKELY,
	LINE_POSSIBLE,
	LINE_FAINT, /* a row's stack */
	LINE_KEYS,
};

struct line {
	struct strbuf text; /* no wider than the screen */
	enum line_style style;
	bool selected;
};

/* Fills that many lines, zeroed before, and moves view->first so that the
   selected row is among them. picture is what is shown, stack the one whose
   stack is. */
void view_lines(struct view *view, const struct live_picture *picture,
		const struct live_picture *stack, unsigned rows,
		unsigned columns, struct line *ret);

/* The same as text without an end, for what is no screen: the head and so many
   rows (0: all). */
void view_print(const struct view *view, const struct live_picture *picture,
		unsigned rows, struct strbuf *out);

/* How many rows a screen of that many lines has. */
unsigned view_page(unsigned rows);

#endif
