/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_BUILTIN_H
#define CALLTRAP_BUILTIN_H

#include <stdbool.h>

#include "base/strbuf.h"

/* A data file that is part of the program. */
struct builtin_file {
	const char *name;          /* below etc/ */
	const unsigned char *gzip; /* its text, as gzip(1) writes it */
	size_t size;               /* of that */
};

/*
 * Of calltrap-static these are all files below etc/, of others none; the last
 * one has no name. The linker chooses: builtin_none.c is in the library.
 */
extern const struct builtin_file builtin_files[];

/* The folder that they seem to lie in. No other file is ever looked for there. */
#define BUILTIN_FOLDER "(built in)"

/* Whether a path leads into that folder. */
bool builtin_owns(const char *path);

/* Whether a path leads to a file there. */
bool builtin_has(const char *path);

/* Adds the text of a path in that folder; -ENOENT when there is no such file. */
int builtin_read(const char *path, struct strbuf *text) MUST_CHECK;

#endif
