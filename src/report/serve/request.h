/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_REQUEST_H
#define CALLTRAP_REQUEST_H

#include <stdbool.h>
#include <sys/types.h>

/* What is asked of the server. */
enum resource {
	RESOURCE_PAGE,    /* / */
	RESOURCE_METRICS, /* /metrics */
	RESOURCE_INDEX,   /* /debug/pprof/ */
	RESOURCE_HEAP,
	RESOURCE_ALLOCS,
	RESOURCE_COMMAND, /* cmdline */
	RESOURCE_SYMBOL,
	RESOURCE_MOVED, /* /debug/pprof */
	RESOURCE_NONE,
};

/* More would keep a connection for what nobody waits for any more. */
#define REQUEST_SECONDS_MAX 3600

struct request {
	enum resource resource;
	pid_t pid;        /* 0: the first */
	unsigned seconds; /* 0: since watching began */
	bool text;        /* debug=1 */
};

enum resource request_resource(const char *path);

/* ?name=value; others than those that are known are passed over, as net/http's
   are. What is wrong, or NULL. */
const char *request_option(struct request *request, const char *name,
			   const char *value);

#endif
