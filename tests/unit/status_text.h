/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATUS_TEXT_H
#define STATUS_TEXT_H

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sysdeps/linux/lines.h"
#include "sysdeps/linux/procfs.h"
#include "unit.h"

/* A file with that text, in memory. */
static inline void open_lines(const char *text, struct lines *lines)
{
	int fd = memfd_create("lines", MFD_CLOEXEC);
	char path[64];

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), strlen(text));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ck_assert(lines_open(lines, path));
	close(fd);
}

/* What a process of that status is. */
static inline struct procfs_status status_of(const char *text)
{
	struct procfs_status status;
	struct lines lines;

	open_lines(text, &lines);
	procfs_status_parse(&lines, &status);
	lines_close(&lines);
	return status;
}

#endif
