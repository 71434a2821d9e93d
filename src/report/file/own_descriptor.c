/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/file/own_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/types.h"

/* Other descriptors may be ours by now, and something else. */
static const struct {
	const char *path;
	int fd;
} names[] = {
	{ "/dev/stdout", STDOUT_FILENO },
	{ "/dev/stderr", STDERR_FILENO },
	{ "/dev/fd/1", STDOUT_FILENO },
	{ "/dev/fd/2", STDERR_FILENO },
	{ "/proc/self/fd/1", STDOUT_FILENO },
	{ "/proc/self/fd/2", STDERR_FILENO },
};

/* -1: none. */
static int descriptor_of(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(path, names[i].path))
			return names[i].fd;
	return -1;
}

bool own_descriptor_is(const char *path)
{
	return descriptor_of(path) >= 0;
}

int own_descriptor(const char *path)
{
	const int own = descriptor_of(path);
	int fd;

	if (own < 0)
		return -ENOENT;
	fd = fcntl(own, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}
