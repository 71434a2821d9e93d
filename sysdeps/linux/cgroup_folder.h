/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CGROUP_FOLDER_H
#define CALLTRAP_CGROUP_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/types.h"

/* Where the files of a cgroup are to be had. */
struct cgroup_folder {
	char *path; /* as we see it, or … */
	pid_t seer; /* … as this process does: in its root; 0: as we do */
	size_t top; /* so much of the path is the mount; below it are groups */
};

/*
 * The folder of one group of a hierarchy: version 1 (the one with the memory
 * controller) or 2. group: as /proc/PID/cgroup has it, so it is relative to our
 * namespace. A container has only a part of the tree mounted, and another part
 * than its neighbour: what isn't in our mounts is looked for in those of pid.
 * root: "", or where tests have prepared /proc and /sys. False: nowhere.
 */
bool cgroup_folder_find(struct cgroup_folder *folder, const char *root,
			pid_t pid, unsigned version,
			const char *group) MUST_CHECK;

/* To the group above. False: that is not to be had here. */
bool cgroup_folder_go_up(struct cgroup_folder *folder);

/* NULL when there is no such file. */
FILE *cgroup_folder_open(const struct cgroup_folder *folder, const char *root,
			 const char *name);

void cgroup_folder_free(struct cgroup_folder *folder);

#endif
