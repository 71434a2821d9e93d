/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PUSH_H
#define CALLTRAP_PUSH_H

#include "report/serve/feed.h"

/*
 * Posts profiles of what is watched to a server, each interval, as Pyroscope's
 * /ingest takes them: a process of its own, that gets them over a feed.
 */
struct push_options {
	const char *url;
	uint64_t every; /* nanoseconds */
	/* What goes wrong, in that process; once, until it works again. */
	void (*told)(const char *url, const char *what);
};

/* -EINVAL: this is no address of a server. -ENOSYS: calltrap was built without
   libcurl. */
int push_check(const char *url) MUST_CHECK;

/* For feed_start(); context: the options. Says -ELIBACC where the library isn't
   there. */
void push_live(const struct feed_end *end, int fd, void *context);

#endif
