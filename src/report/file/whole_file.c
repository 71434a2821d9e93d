/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/file/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/doing.h"
#include "base/xalloc.h"
#include "report/file/exposed.h"
#include "report/file/own_descriptor.h"

#define CHUNK 65536

/* What stands in the file: bytes, then all that comes from a descriptor. */
struct content {
	const void *bytes;
	size_t size;
	int fd; /* -1: none */
};

int write_bytes(int fd, const void *bytes, size_t size)
{
	const char *next = bytes;

	while (size) {
		ssize_t n = write(fd, next, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		next += n;
		size -= n;
	}
	return 0;
}

static int copy_bytes(int from, int to)
{
	char *chunk CLEANUP(xfree_cleanup) = xmalloc(CHUNK);
	int err = 0;

	while (!err) {
		ssize_t n = read(from, chunk, CHUNK);

		if (!n)
			break;
		if (n > 0)
			err = write_bytes(to, chunk, n);
		else if (errno != EINTR)
			err = -errno;
	}
	return err;
}

static int write_content(int fd, const struct content *content)
{
	int err;

	if (isatty(fd))
		doing_make_room();
	err = write_bytes(fd, content->bytes, content->size);

	return err || content->fd < 0 ? err : copy_bytes(content->fd, fd);
}

static int write_and_close(int fd, const struct content *content)
{
	int err = write_content(fd, content);

	if (close(fd) && !err)
		err = -errno;
	return err;
}

static int write_in_place(const char *path, const struct content *content)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : write_and_close(fd, content);
}

static mode_t without_mask(mode_t mode)
{
	mode_t mask = umask(0);

	umask(mask);
	return mode & ~mask;
}

/* A new file has the mode that open(2) would have given it. */
static mode_t usual_mode(const char *path)
{
	struct stat st;

	return stat(path, &st) ? without_mask(0666) : st.st_mode & 07777;
}

/* Through a symbolic link, what it leads to is replaced. */
static char *real_path(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : xstrdup(path);
}

static int write_beside(const char *path, const struct content *content,
			mode_t mode)
{
	char *temporary CLEANUP(xfree_cleanup) = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(temporary, O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = write_content(fd, content);
	if (!err && fchmod(fd, mode))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(temporary, path))
		err = -errno;
	if (err)
		(void)unlink(temporary);
	return err;
}

/* Whatever somebody else has put there is replaced, and never written to. */
static int write_exposed(const char *path, const struct content *content)
{
	struct stat st;

	if (!lstat(path, &st) && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return -EEXIST;
	return write_beside(path, content, without_mask(0666));
}

static int write_whole(const char *path, const struct content *content,
		       bool predictable)
{
	char *real CLEANUP(xfree_cleanup) = real_path(path);
	const int own = own_descriptor(path);
	struct stat st;

	if (own != -ENOENT)
		return own < 0 ? own : write_and_close(own, content);
	if (predictable && exposed_is(path))
		return write_exposed(path, content);
	if (!stat(real, &st) && !S_ISREG(st.st_mode))
		return write_in_place(real, content);
	return write_beside(real, content, usual_mode(real));
}

/* A name that nobody has, and that is gone again at once. */
static int try_beside(const char *path)
{
	char *temporary CLEANUP(xfree_cleanup) = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(temporary, O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return unlink(temporary) ? -errno : 0;
}

int whole_file_try(const char *path)
{
	char *real CLEANUP(xfree_cleanup) = real_path(path);
	const int own = own_descriptor(path);
	struct stat st;

	if (own >= 0)
		close(own);
	if (own != -ENOENT)
		return own < 0 ? own : 0;
	if (stat(real, &st) || S_ISREG(st.st_mode))
		return try_beside(real);
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return access(real, W_OK) ? -errno : 0;
}

int whole_file_write(const char *path, const void *bytes, size_t size,
		     bool predictable)
{
	return write_whole(path, &(struct content){ bytes, size, -1 },
			   predictable);
}

int whole_file_write_from(const char *path, const void *bytes, size_t size,
			  int fd, bool predictable)
{
	return write_whole(path, &(struct content){ bytes, size, fd },
			   predictable);
}
