/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_OUTPUT_H
#define CALLTRAP_OUTPUT_H

#include <signal.h>
#include <stdbool.h>

#include "base/strbuf.h"

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
	/*
	 * Set (by a signal handler) when a reader who doesn't read must not
	 * keep us any longer: what isn't written then within a second at the
	 * end is dropped, with -ETIMEDOUT. NULL: wait for ever.
	 */
	const volatile sig_atomic_t *hurry;
};

#define OUTPUT_CLOSED ((struct output){ .fd = -1 })

/* Opens path, emptied or to add to; NULL is standard error. */
int output_open(struct output *output, const char *path,
		bool add) MUST_CHECK;

/* What was not flushed stays, for when it is opened again. */
void output_close(struct output *output);
void output_fini(struct output *output);

/* Ends the line that text ends in; writes when much has gathered. */
int output_end_line(struct output *output) MUST_CHECK;

/* Length of the unfinished line. */
size_t output_column(const struct output *output);
void output_pad(struct output *output, size_t column);

/*
 * Writes everything that may be shown by now. A negative errno when that
 * failed; what could not be written is dropped.
 */
int output_flush(struct output *output) MUST_CHECK;

/* Writes everything, as text that is complete. */
int output_write(struct output *output) MUST_CHECK;

#endif
