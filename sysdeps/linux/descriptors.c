/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/descriptors.h"

#include <sys/resource.h>

bool descriptor_is_scarce(int fd)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_NOFILE, &limit) &&
	       limit.rlim_cur != RLIM_INFINITY &&
	       (rlim_t)fd + DESCRIPTORS_RESERVED >= limit.rlim_cur;
}
