/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_JSON_H
#define CALLTRAP_JSON_H

#include <stdbool.h>

#include "probe/event.h"
#include "prototype/prototype.h"

struct output_policy;

/*
 * One JSON object a line. Of a call, when it ends:
 *
 *	{"event": "call", "pid": 1, "tid": 1, "time": 1700000000.507781,
 *	 "duration": 0.000031, "function": "read", "library": "libc.so.6",
 *	 "caller": "cat", "syscall": true, "ip": "0x401136", "depth": 0,
 *	 "args": [3, "text", 131072], "names": ["fd", null, null],
 *	 "cut": true, "result": -1, "failed": true, "error": "ENOENT",
 *	 "end": "returned", "stack": […]}
 *
 * What there isn't is left out. Values are those of struct json_writer. Other
 * events are "signal", "fork", "exec", "exit" and "detach".
 */
struct json_options {
	const char *path;  /* "%p" becomes the process id: a file each */
	bool demangle;     /* -C */
	bool hide_signals; /* -b */
	unsigned where;    /* -w */
	const struct stacks *stacks; /* as in struct log_options */
	struct debuginfo *debuginfo;
	struct output_policy *policy; /* as in struct log_options */
	struct print_limits limits;
};

/* Opens the file. A negative errno when it can't be written. */
int json_new(const struct json_options *options, struct sink **ret) MUST_CHECK;

/* Whether writing has failed; the sink's events then return why. */
bool json_has_failed(const struct sink *sink);

#endif
