/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/writable.h"

#include <errno.h>
#include <poll.h>

int writable_within(int fd, int ms)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLOUT };
	int ready = poll(&pollfd, 1, ms);

	if (ready < 0)
		return errno == EINTR ? 0 : -errno;
	return ready;
}
