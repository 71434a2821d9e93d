/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_BUILTIN_H
#define CALLTRAP_BUILTIN_H

#include <stdbool.h>
#include <stddef.h>

/* A data file that is part of the program. */
struct builtin_file {
	const char *name; /* below etc/ */
	const char *text; /* with a NUL behind it */
	size_t size;      /* without that */
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

/* The file of a path in that folder; NULL: there is none, or it leads elsewhere. */
const struct builtin_file *builtin_find(const char *path);

#endif
