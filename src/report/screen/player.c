/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/screen/player.h"

#include <fcntl.h>
#include <langinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "report/screen/curses.h"

#define TICK_MS   50
#define KEPT_MAX  65536 /* of messages, while the screen is there */
#define LAST_ROWS 10

struct player {
	const struct player_options *options;
	struct live_shared *shared;
	struct view view;
	struct strbuf kept; /* messages that are to be printed */
	bool cut;
	struct line *lines;
	unsigned rows, columns;
	uint64_t drawn; /* the picture's number */
};

static bool is_over(const struct player *player)
{
	return atomic_load(&player->shared->over) ||
	       getppid() != player->options->tracer;
}

/* ---- messages ---- */

/* The last line, as the screen's message. */
static void show_message(struct player *player, const char *text, size_t size)
{
	static const char name[] = "calltrap: ";
	size_t begin;

	while (size && text[size - 1] == '\n')
		size--;
	for (begin = size; begin && text[begin - 1] != '\n'; begin--)
		;
	text += begin;
	size -= begin;
	if (size > strlen(name) && !memcmp(text, name, strlen(name))) {
		text += strlen(name);
		size -= strlen(name);
	}
	snprintf(player->view.message, sizeof(player->view.message), "%.*s",
		 (int)size, text);
}

/* True: there were some. */
static bool take_messages(struct player *player)
{
	char text[4096];
	ssize_t size = read(player->options->messages, text, sizeof(text));

	if (size <= 0)
		return false;
	if (player->kept.length + size <= KEPT_MAX)
		strbuf_add(&player->kept, text, size);
	else
		player->cut = true;
	show_message(player, text, size);
	return true;
}

static void print_messages(struct player *player)
{
	fputs(strbuf_text(&player->kept), stderr);
	if (player->cut)
		fputs("calltrap: there were more messages\n", stderr);
	player->cut = false;
	strbuf_clear(&player->kept);
}

static void rest(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = TICK_MS * 1000000l }, NULL);
}

/* Whoever traces leaves now, and may have something to say. */
static void print_until_over(struct player *player)
{
	bool over;

	do {
		over = is_over(player);
		while (take_messages(player))
			print_messages(player);
		print_messages(player);
		if (!over)
			rest();
	} while (!over);
}

/* ---- texts ---- */

static void print_picture(struct player *player,
			  const struct live_picture *picture, unsigned rows)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	if (!picture->number)
		return;
	view_print(&player->view, picture, rows, &text);
	fputs(strbuf_text(&text), stdout);
	player->drawn = picture->number;
}

static void print_from_time_to_time(struct player *player)
{
	uint64_t next = 0;

	while (!is_over(player) && !ferror(stdout)) {
		const struct live_picture *picture = live_read(player->shared);

		if (picture->number != player->drawn && clock_now() >= next) {
			next = clock_now() + player->options->every;
			if (player->drawn)
				putchar('\n');
			print_picture(player, picture, player->options->rows);
			fflush(stdout);
		}
		while (take_messages(player))
			print_messages(player);
		rest();
	}
	/* Nobody reads it any more. */
	if (ferror(stdout))
		atomic_store(&player->shared->quit, true);
}

/* ---- the screen ---- */

static void fit_lines(struct player *player)
{
	unsigned rows = curses_rows();

	for (unsigned i = rows; i < player->rows; i++)
		strbuf_fini(&player->lines[i].text);
	player->lines =
		xreallocarray(player->lines, rows, sizeof(*player->lines));
	for (unsigned i = player->rows; i < rows; i++)
		player->lines[i] = (struct line){ 0 };
	player->rows = rows;
	player->columns = curses_columns();
	for (unsigned i = 0; i < rows; i++) {
		strbuf_clear(&player->lines[i].text);
		player->lines[i].style = LINE_PLAIN;
		player->lines[i].selected = false;
	}
}

static const struct live_picture *shown(const struct player *player,
					const struct live_picture *latest)
{
	return player->view.paused ? player->view.frozen : latest;
}

static void draw(struct player *player, const struct live_picture *latest)
{
	fit_lines(player);
	view_lines(&player->view, shown(player, latest), latest, player->rows,
		   player->columns, player->lines);
	curses_show(player->lines, player->rows);
	player->drawn = latest->number;
}

static void play(struct player *player)
{
	while (!is_over(player) && !atomic_load(&player->shared->quit)) {
		const struct live_picture *latest = live_read(player->shared);
		bool changed = latest->number != player->drawn ||
			       curses_rows() != player->rows ||
			       curses_columns() != player->columns;
		int key;

		changed |= take_messages(player);
		if (changed)
			draw(player, latest);
		key = curses_key(TICK_MS);
		if (!key)
			continue;
		view_key(&player->view, player->shared, shown(player, latest),
			 view_page(player->rows), key);
		draw(player, latest);
	}
}

static void play_on_screen(struct player *player)
{
	play(player);
	/* Who is in the background by now has to do it all the same. */
	signal(SIGTTOU, SIG_IGN);
	curses_end();
	atomic_store(&player->shared->raw, false);
	print_picture(player, live_read(player->shared), LAST_ROWS);
	fflush(stdout);
}

static bool is_screen(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

static bool begin_screen(struct player *player)
{
	if (!is_screen())
		return false;
	atomic_store(&player->shared->raw, true);
	if (curses_begin())
		return true;
	atomic_store(&player->shared->raw, false);
	return false;
}

void player_run(const struct player_options *options)
{
	struct player player = {
		.options = options,
		.shared = options->shared,
		.view.narrow = strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
	};

	fcntl(options->messages, F_SETFL, O_NONBLOCK);
	if (begin_screen(&player))
		play_on_screen(&player);
	else
		print_from_time_to_time(&player);
	print_until_over(&player);
	for (unsigned i = 0; i < player.rows; i++)
		strbuf_fini(&player.lines[i].text);
	free(player.lines);
	strbuf_fini(&player.kept);
	view_fini(&player.view);
}
