/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SPOOL_H
#define CALLTRAP_SPOOL_H

#include "base/strbuf.h"

/*
 * A text too long to be kept in memory, for a file whose beginning is known
 * last: it lies in a file without a name, on the disk where it will be needed.
 * .fd = -1: not open.
 */
struct spool {
	int fd;
	struct strbuf text; /* not written yet */
	int error;          /* the first one; what comes later is dropped */
};

#define SPOOL_CLOSED ((struct spool){ .fd = -1 })

/* For what will be written to that path. */
int spool_open(struct spool *spool, const char *path) MUST_CHECK;
void spool_fini(struct spool *spool);

/* What was added to .text is complete by now. */
void spool_added(struct spool *spool);

/* Everything is in .fd, and that is at its beginning; or the spool's error. */
int spool_rewind(struct spool *spool) MUST_CHECK;

#endif
