/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_IMAGE_CACHE_H
#define CALLTRAP_IMAGE_CACHE_H

#include <sys/types.h>

#include "image/image.h"
#include "sysdeps/linux/procfs.h"

/*
 * The images that are mapped by any tracee, each read once, and a few that
 * were so before.
 */
struct image_cache;

struct image_cache *image_cache_new(void);
void image_cache_free(struct image_cache *cache);

/*
 * Finds the file behind a mapping of a process: by its path below the
 * process' root when it is still the same file, else through map_files, else
 * (NULL mapping path, deleted and not accessible) -ENOENT. The caller gets a
 * reference of its own.
 */
int image_cache_open(struct image_cache *cache, pid_t pid,
		     const struct procfs_mapping *mapping,
		     struct image **ret) MUST_CHECK;

/*
 * The program that a process runs (/proc/PID/exe). -ETIMEDOUT: its file system
 * doesn't answer.
 */
int image_cache_open_exe(struct image_cache *cache, pid_t pid,
			 struct image **ret) MUST_CHECK;

#endif
