/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HTTP_H
#define CALLTRAP_HTTP_H

#include "report/serve/feed.h"

/*
 * A server of what is watched, as net/http/pprof is one: a process of its own,
 * that gets what it shows over a feed. None of its clients can keep the process
 * that traces from its work.
 */

/* -ENOSYS: calltrap was built without libmicrohttpd. */
int http_can(void) MUST_CHECK;

/* For feed_start(); fd: the listening socket. Says -ELIBACC where the library
   isn't there. */
void http_live(const struct feed_end *end, int fd, void *context);

#endif
