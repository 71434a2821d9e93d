/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"

static int write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		size -= n;
	}
	return 0;
}

static int write_in_place(const char *path, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = write_all(fd, bytes, size);
	if (close(fd) && !err)
		err = -errno;
	return err;
}

/* A new file has the mode that open(2) would have given it. */
static mode_t usual_mode(const char *path)
{
	struct stat st;
	mode_t mask;

	if (!stat(path, &st))
		return st.st_mode & 07777;
	mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

/* Through a symbolic link, what it leads to is replaced. */
static char *real_path(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : xstrdup(path);
}

static int write_beside(const char *path, const void *bytes, size_t size)
{
	char *temporary CLEANUP(xfree_cleanup) = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(temporary, O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = write_all(fd, bytes, size);
	if (!err && fchmod(fd, usual_mode(path)))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(temporary, path))
		err = -errno;
	if (err)
		(void)unlink(temporary);
	return err;
}

int whole_file_write(const char *path, const void *bytes, size_t size)
{
	char *real CLEANUP(xfree_cleanup) = real_path(path);
	struct stat st;

	if (!stat(real, &st) && !S_ISREG(st.st_mode))
		return write_in_place(real, bytes, size);
	return write_beside(real, bytes, size);
}
