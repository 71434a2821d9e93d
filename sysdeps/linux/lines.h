/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LINES_H
#define CALLTRAP_LINES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Lines of a file of the kernel's, without allocation: stdio has buffers, and
 * these are read when there is no memory left, too, and while a crash is
 * handled.
 */
struct lines {
	int fd;
	char *at; /* what was read and not taken yet … */
	size_t left;
	char text[PATH_MAX + 128]; /* a path, and what else a line has */
};

bool lines_open(struct lines *lines, const char *path);
void lines_close(struct lines *lines);

/*
 * The next one without its end, until another is asked for; NULL: there is
 * none. One that is longer than the room comes in parts.
 */
char *lines_next(struct lines *lines);

#endif
