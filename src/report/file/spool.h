/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SPOOL_H
#define CALLTRAP_SPOOL_H

#include <stdbool.h>

#include "base/strbuf.h"

/*
 * A text too long to be kept in memory, for a file whose beginning is known
 * last: it lies in a file without a name, on the disk where it will be needed;
 * where no file can be made (a read-only system), in memory, if it isn't longer
 * than SPOOL_MEMORY_MAX. .fd = -1: not open.
 */
#define SPOOL_MEMORY_MAX (UINT64_C(256) << 20)

struct spool {
	int fd;
	struct strbuf text; /* not written yet */
	bool in_memory;
	uint64_t written; /* bytes, to .fd */
	int error;        /* the first one; what comes later is dropped */
};

#define SPOOL_CLOSED ((struct spool){ .fd = -1 })

/* A file without a name in $TMPDIR or /tmp, else in memory; or -errno.
   in_memory_ret: or NULL. */
int spool_file(bool *in_memory_ret) MUST_CHECK;

/* For what will be written to that path. */
int spool_open(struct spool *spool, const char *path) MUST_CHECK;
void spool_fini(struct spool *spool);

/* What was added to .text is complete by now. */
void spool_added(struct spool *spool);

/* Everything is in .fd, and that is at its beginning; or the spool's error. */
int spool_rewind(struct spool *spool) MUST_CHECK;

#endif
