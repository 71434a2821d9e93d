/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SERVED_FILES_H
#define CALLTRAP_SERVED_FILES_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/types.h"

#define SERVED_DEVICES 64

/*
 * File systems whose pages another process or machine has to bring (FUSE, NFS
 * and their like), as a process has them mounted. A read of such a page lasts
 * as long as its server likes; that may be the process itself, which waits for
 * us.
 */
struct served_files {
	struct {
		unsigned major, minor;
	} devices[SERVED_DEVICES];
	unsigned count;
	bool many; /* more than there is room for: any file may be one */
};

/* From /proc/PID/mountinfo. Takes no memory of ours. */
void served_files_read(struct served_files *files, pid_t pid);

/* The same from the text of such a file. */
void served_files_parse(struct served_files *files, FILE *mounts);

/* Whether files of that device are such. */
bool served_files_include(const struct served_files *files, unsigned major,
			  unsigned minor);

/* Whether the page at an address may be one. */
bool served_files_hold(const struct served_files *files, pid_t pid,
		       taddr_t address);

#endif
