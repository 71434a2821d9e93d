/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_TEXT_LOG_H
#define CALLTRAP_TEXT_LOG_H

#include <stdbool.h>

#include "base/types.h"

/*
 * Calls of an allocator in texts that others have written: the lines of
 * --footprint ("m 1 24"), and logs of ltrace, or calltrap, of malloc, calloc,
 * realloc and free.
 */
enum text_function {
	TEXT_MALLOC,
	TEXT_CALLOC,
	TEXT_REALLOC,
	TEXT_FREE,
};

struct text_call {
	enum text_function function;
	int pid; /* 0: not told */
	uint64_t handle, old, size, count, item;
};

struct text_unfinished;

/* Zeroed in the beginning. */
struct text_log {
	struct text_unfinished *unfinished; /* calls that were cut in two */
	uint64_t lines, calls;
	uint64_t others;        /* lines of no call of these */
	uint64_t strange;       /* that look like one, and can't be read */
	uint64_t first_strange; /* the first one's number */
};

void text_log_fini(struct text_log *log);

/* Reads a line, without its end; whether it was a call. */
bool text_log_line(struct text_log *log, const char *line,
		   struct text_call *ret);

#endif
