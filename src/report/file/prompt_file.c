/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/file/prompt_file.h"

#include <errno.h>
#include <libgen.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/types.h"
#include "base/xalloc.h"

static bool is_served(const struct statfs *st)
{
	static const uint32_t served[] = {
		AFS_SUPER_MAGIC,  AFS_FS_MAGIC,     CEPH_SUPER_MAGIC,
		CIFS_SUPER_MAGIC, CODA_SUPER_MAGIC, FUSE_SUPER_MAGIC,
		NFS_SUPER_MAGIC,  SMB2_SUPER_MAGIC, V9FS_MAGIC,
	};

	for (size_t i = 0; i < ARRAY_SIZE(served); i++)
		if ((uint32_t)st->f_type == served[i])
			return true;
	return false;
}

/* The folder says it of a file that isn't there yet. */
static bool find_system(const char *path, struct statfs *ret)
{
	char *copy CLEANUP(xfree_cleanup) = xstrdup(path);

	return !statfs(path, ret) || !statfs(dirname(copy), ret);
}

bool file_is_prompt(const char *path)
{
	struct statfs system;
	struct stat st;

	if (stat(path, &st) ? errno != ENOENT : !S_ISREG(st.st_mode))
		return false;
	return find_system(path, &system) && !is_served(&system);
}
