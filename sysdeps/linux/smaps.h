/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SMAPS_H
#define CALLTRAP_SMAPS_H

#include "sysdeps/linux/procfs.h"

/* One mapping in /proc/PID/smaps (proc(5)); all numbers are bytes. */
struct smaps_row {
	struct procfs_mapping mapping;
	uint64_t resident;
	uint64_t proportional; /* resident, each page divided by its users */
	uint64_t swapped;
	uint64_t anonymous;  /* of the resident: not of a file */
	uint64_t huge;       /* of the resident: in huge pages, whosever */
	uint64_t referenced; /* of the resident: used since that was cleared */
	bool dont_fork;      /* MADV_DONTFORK: children don't have it */
	bool wipe_on_fork;   /* MADV_WIPEONFORK: they have zeros there */
	bool soft_dirty;     /* the kernel keeps what is written there */
};

/* Iterates; the reading is NULL when the process is gone, or can't be read. */
struct smaps;

struct smaps *smaps_open(pid_t pid);
void smaps_close(struct smaps *smaps);
bool smaps_next(struct smaps *smaps, struct smaps_row *ret);

#endif
