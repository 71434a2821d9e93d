/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_OUTPUT_H
#define CALLTRAP_OUTPUT_H

#include <signal.h>
#include <stdbool.h>

#include "base/strbuf.h"
#include "base/types.h"

/*
 * What becomes of text that a reader (a pipe, a terminal) doesn't take, as
 * tasks may stand still meanwhile. Several outputs may share one.
 */
struct output_policy {
	/*
	 * Set (by a signal handler) when a reader who doesn't read must not
	 * keep us any longer: what isn't written then within a second at the
	 * end is dropped, with -ETIMEDOUT. NULL: wait for ever.
	 */
	const volatile sig_atomic_t *hurry;
	/* Nobody is waited for longer than a fifth of a second; then whole
	   lines are dropped until something is taken again. No error. */
	bool drops;
	uint64_t dropped; /* lines, so far */
	/* Called ten times a second while a reader is waited for; or NULL. */
	void (*waiting)(void *context);
	void *context;
};

/*
 * A text file that several lines are written to in one write(2). When it is
 * flushed, which isn't often, the beginning of a line is shown, too: whoever
 * reads it sees what lasts.
 */
struct output {
	int fd; /* -1: not open */
	bool owned;
	struct strbuf text; /* not written yet */
	size_t lines;       /* how much of it is whole lines */
	size_t written;     /* bytes of the unfinished line that are out */
	bool waits;         /* a regular file takes everything at once */
	bool terminal;
	bool stuck;   /* nothing was taken the last time */
	bool begun;   /* the last byte that is out ends no line */
	uint64_t gap; /* lines dropped, which the text doesn't tell yet */
	/* Adds a line that does; or NULL. */
	void (*add_gap)(struct strbuf *out, uint64_t lines);
	struct output_policy *policy; /* NULL: wait for ever */
};

#define OUTPUT_CLOSED ((struct output){ .fd = -1 })

/*
 * Opens path, emptied or to add to; NULL is standard error. predictable: others
 * can know the name beforehand (see exposed.h).
 */
int output_open(struct output *output, const char *path, bool add,
		bool predictable) MUST_CHECK;

/* Whether path names another file by now, or none; of files alone. */
bool output_has_moved(const struct output *output, const char *path);

/*
 * What comes from now on goes to the file of that name, a new one or one of our
 * own (see exposed.h); what was not flushed, too, unless its line is begun in the
 * old one. A negative errno when there can't be any; then all stays as it is.
 */
int output_move(struct output *output, const char *path) MUST_CHECK;

/* What was not flushed stays, for when it is opened again. */
void output_close(struct output *output);
void output_fini(struct output *output);

/* Ends the line that text ends in; writes when much has gathered. */
int output_end_line(struct output *output) MUST_CHECK;

/* The same of text that ends in a whole line already. */
int output_end_lines(struct output *output) MUST_CHECK;

/* Length of the unfinished line. */
size_t output_column(const struct output *output);
void output_pad(struct output *output, size_t column);

/*
 * Writes everything that may be shown by now. A negative errno when that
 * failed; what could not be written is dropped. What the policy has dropped is
 * no failure.
 */
int output_flush(struct output *output) MUST_CHECK;

/* Writes everything, as text that is complete. */
int output_write(struct output *output) MUST_CHECK;

#endif
