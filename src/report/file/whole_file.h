/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_WHOLE_FILE_H
#define CALLTRAP_WHOLE_FILE_H

#include <stdbool.h>

#include "base/strbuf.h"

/*
 * Writes a file that appears whole or not at all: under another name in the
 * same directory first. What is no regular file (a terminal, a pipe), and what
 * /dev/stdout and /dev/stderr are, is written as it is. A negative errno when that failed; the old
 * file, if there was one, is then as it was. predictable: others can know the name
 * beforehand: links that they have put there are replaced, not followed.
 */
int whole_file_write(const char *path, const void *bytes, size_t size,
		     bool predictable) MUST_CHECK;

/*
 * Whether such a file could be written now, before there is anything to write:
 * 0, or the negative errno that whole_file_write() would end with. Leaves
 * everything as it was, and writes nothing to what is no regular file.
 */
int whole_file_try(const char *path) MUST_CHECK;

/* whole_file_write() of bytes, and of all that a descriptor has to give after them. */
int whole_file_write_from(const char *path, const void *bytes, size_t size,
			  int fd, bool predictable) MUST_CHECK;

/* write(2), all of it: 0, or a negative errno. */
int write_bytes(int fd, const void *bytes, size_t size) MUST_CHECK;

#endif
