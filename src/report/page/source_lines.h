/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SOURCE_LINES_H
#define CALLTRAP_SOURCE_LINES_H

#include "report/viewer/frame_table.h"
#include "sysdeps/linux/rights.h"

/* The text of each frame's line, for --source: it may be confidential. */
struct source_lines {
	char **texts; /* by the frame's number; NULL: can't be read */
	size_t count;
};

/* With the rights of the process that names the files; NULL: none is read. */
void source_lines_read(const struct frame_table *frames,
		       const struct rights *rights, struct source_lines *ret);
void source_lines_fini(struct source_lines *lines);

#endif
