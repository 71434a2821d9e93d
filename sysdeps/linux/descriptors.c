/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

bool descriptor_is_scarce(int fd)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_NOFILE, &limit) &&
	       limit.rlim_cur != RLIM_INFINITY &&
	       (rlim_t)fd + DESCRIPTORS_RESERVED >= limit.rlim_cur;
}

int descriptor_of_nothing(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		fd = open("/", O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
