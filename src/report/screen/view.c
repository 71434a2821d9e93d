/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/screen/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

bool view_shows(const struct view *view, const struct live_row *row)
{
	return !view->filter[0] || strcasestr(row->name, view->filter);
}

void view_fini(struct view *view)
{
	free(view->frozen);
}

static void say(struct view *view, const char *text)
{
	snprintf(view->message, sizeof(view->message), "%s", text);
}

/* The row that is so many rows from the selected one. */
static uint64_t row_away(const struct view *view,
			 const struct live_picture *picture, long away)
{
	size_t *shown CLEANUP(xfree_cleanup) =
		xcalloc(picture->count + 1, sizeof(*shown));
	long count = 0, at = 0;

	for (size_t i = 0; i < picture->count; i++) {
		if (!view_shows(view, &picture->rows[i]))
			continue;
		if (picture->rows[i].key == view->selected)
			at = count;
		shown[count++] = i;
	}
	if (!count)
		return 0;
	at += away;
	at = at < 0 ? 0 : at >= count ? count - 1 : at;
	return picture->rows[shown[at]].key;
}

static void move(struct view *view, const struct live_picture *picture,
		 long away)
{
	view->selected = row_away(view, picture, away);
}

static void fold(struct view *view, struct live_shared *shared,
		 const struct live_picture *picture)
{
	uint64_t key = row_away(view, picture, 0);

	view->selected = key;
	atomic_store(&shared->open,
		     atomic_load(&shared->open) == key ? 0 : key);
}

static void pause_or_go_on(struct view *view,
			   const struct live_picture *picture)
{
	view->paused = !view->paused;
	if (view->paused && !view->frozen)
		view->frozen = xcalloc(1, sizeof(*view->frozen));
	if (view->paused)
		*view->frozen = *picture;
	say(view, view->paused ? "paused: the screen stands still, what is "
				 "watched goes on; p again" :
				 "");
}

static void group(struct view *view, struct live_shared *shared)
{
	atomic_store(&shared->by, (atomic_load(&shared->by) + 1) % LIVE_BYS);
	atomic_store(&shared->open, 0);
	view->selected = 0;
	view->first = 0;
}

static void sort(struct view *view, struct live_shared *shared)
{
	atomic_store(&shared->order,
		     (atomic_load(&shared->order) + 1) % LIVE_ORDERS);
	view->first = 0;
	view->selected = 0;
}

static void escape(struct view *view, struct live_shared *shared)
{
	if (atomic_load(&shared->open))
		atomic_store(&shared->open, 0);
	else
		view->filter[0] = '\0';
	say(view, "");
}

static void key_of_rows(struct view *view, struct live_shared *shared,
			const struct live_picture *picture, unsigned page,
			int key)
{
	switch (key) {
	case 'q':
	case 'Q':
		atomic_store(&shared->quit, true);
		break;
	case 'h':
	case '?':
		view->mode = VIEW_HELP;
		break;
	case 's':
		sort(view, shared);
		break;
	case 'g':
		group(view, shared);
		break;
	case '/':
		view->mode = VIEW_FILTERS;
		break;
	case 'p':
		pause_or_go_on(view, picture);
		break;
	case 'm':
		atomic_fetch_add(&shared->marks, 1);
		say(view, "the mark is set: changes count from now on");
		break;
	case 'w':
		view->mode = VIEW_SAVES;
		break;
	case VIEW_ENTER:
	case ' ':
		fold(view, shared, picture);
		break;
	case VIEW_ESCAPE:
		escape(view, shared);
		break;
	case VIEW_UP:
	case 'k':
		move(view, picture, -1);
		break;
	case VIEW_DOWN:
	case 'j':
		move(view, picture, 1);
		break;
	case VIEW_PAGE_UP:
		move(view, picture, -(long)page);
		break;
	case VIEW_PAGE_DOWN:
		move(view, picture, page);
		break;
	case VIEW_HOME:
		move(view, picture, -(long)picture->count);
		break;
	case VIEW_END:
		move(view, picture, picture->count);
		break;
	}
}

static void key_of_filter(struct view *view, int key)
{
	size_t length = strlen(view->filter);

	if (key == VIEW_ENTER || key == VIEW_ESCAPE)
		view->mode = VIEW_ROWS;
	if (key == VIEW_ESCAPE)
		view->filter[0] = '\0';
	if (key == VIEW_BACKSPACE && length)
		view->filter[length - 1] = '\0';
	if (key >= ' ' && key < 0x7f && length + 1 < sizeof(view->filter)) {
		view->filter[length] = key;
		view->filter[length + 1] = '\0';
	}
	view->first = 0;
	view->selected = 0;
}

static void key_of_saves(struct view *view, struct live_shared *shared, int key)
{
	static const char letters[] = {
		[LIVE_TEXT] = 't',
		[LIVE_JSON] = 'j',
		[LIVE_PPROF] = 'p',
		[LIVE_HTML] = 'h',
	};

	view->mode = VIEW_ROWS;
	for (enum live_file file = 0; file < LIVE_FILES; file++) {
		if (key != letters[file])
			continue;
		atomic_fetch_add(&shared->saves[file], 1);
		say(view, "being written, as soon as all names are known");
	}
}

void view_key(struct view *view, struct live_shared *shared,
	      const struct live_picture *picture, unsigned page, int key)
{
	if (!view->paused)
		say(view, "");
	switch (view->mode) {
	case VIEW_ROWS:
		key_of_rows(view, shared, picture, page, key);
		break;
	case VIEW_HELP:
		view->mode = VIEW_ROWS;
		if (key == 'q')
			atomic_store(&shared->quit, true);
		break;
	case VIEW_FILTERS:
		key_of_filter(view, key);
		break;
	case VIEW_SAVES:
		key_of_saves(view, shared, key);
		break;
	}
}
