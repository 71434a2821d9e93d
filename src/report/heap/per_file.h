/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PER_FILE_H
#define CALLTRAP_PER_FILE_H

#include "heap/per_calls.h"
#include "report/memory/config.h"

struct output_policy;

/* --per-json: each call of --per that is over, a line with a JSON object. */
struct per_file;

/* path: "%p" in it becomes the process id, a file each. A negative errno when it
   can't be written. */
int per_file_new(const char *path, struct output_policy *policy,
		 struct per_file **ret) MUST_CHECK;
void per_file_free(struct per_file *file);

/* Negative errnos when it can't be written any more; nothing is from then on,
   and 0 returned. */
int per_file_add(struct per_file *file, const struct per_call *call) MUST_CHECK;

/* What was added may be seen. pid: that process is gone; 0: none. */
int per_file_flush(struct per_file *file, pid_t pid) MUST_CHECK;

#endif
