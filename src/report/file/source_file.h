/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SOURCE_FILE_H
#define CALLTRAP_SOURCE_FILE_H

#include <stdbool.h>
#include <time.h>

#include "base/strbuf.h"
#include "sysdeps/linux/rights.h"

/*
 * The lines of a source file, as debug information names it: that may be
 * anything, so only regular files are read, of up to 16 MiB.
 */
struct source_file {
	struct strbuf text;
	struct timespec changed;
	unsigned line; /* that begins at .position; from 1 on */
	size_t position;
};

/*
 * Opens it with the rights of the process that named it (see rights_open()).
 * -EINVAL: no regular file; -EFBIG: too large; or why it can't be opened.
 */
int source_file_read(const char *path, const struct rights *rights,
		     struct source_file *ret) MUST_CHECK;
void source_file_fini(struct source_file *file);

/* What these errors mean. */
const char *source_file_problem(int err);

/*
 * Adds a line as a terminal may show it: without control characters, tabs
 * as blanks, cut when it is very long. False when the file hasn't got it.
 * Lines are asked for in their order.
 */
bool source_file_add_line(struct source_file *file, unsigned line,
			  struct strbuf *out);

#endif
