/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "base/types.h"
#include "report/serve/http.h"

int http_can(void)
{
	return -ENOSYS;
}

void http_live(const struct feed_end *end, int fd UNUSED, void *context UNUSED)
{
	feed_ready(end, -ENOSYS);
}
