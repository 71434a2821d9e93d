/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/file/exposed.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"

bool exposed_is(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory CLEANUP(xfree_cleanup) =
		slash ? xstrndup(path, slash - path + 1) : xstrdup(".");
	struct stat st;

	return !stat(directory, &st) && st.st_mode & S_IWOTH;
}

#define FLAGS \
	(O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK)

static bool is_ours(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       st.st_uid == geteuid() && st.st_nlink == 1;
}

static int open_own(const char *path, bool add)
{
	int fd = open(path, FLAGS);

	if (fd < 0)
		return -EEXIST;
	if (is_ours(fd) && (add || !ftruncate(fd, 0)))
		return fd;
	close(fd);
	return -EEXIST;
}

int exposed_open(const char *path, bool add)
{
	int fd = open(path, FLAGS | O_CREAT | O_EXCL, 0666);

	if (fd >= 0)
		return fd;
	return errno == EEXIST ? open_own(path, add) : -errno;
}
