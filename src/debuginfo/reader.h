/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_READER_H
#define CALLTRAP_DEBUGINFO_READER_H

#include "dwarf/wire.h"

/* The child that reads debug information, as calltrap sees it. */
struct debug_reader;

/* NULL when there can't be one. */
struct debug_reader *reader_start(void);

/* Kills it. NULL is fine. */
void reader_stop(struct debug_reader *reader);

/* Returns -EPIPE when it has died. Descriptors stay the caller's. */
int reader_ask(struct debug_reader *reader, const struct wire_head *head,
	       const void *body, const int *fds, unsigned fd_count) MUST_CHECK;

/*
 * Waits for a reply until a time. -EAGAIN: not yet; -EPIPE: it has died, or
 * speaks nonsense. The body is in place until the next call.
 */
int reader_wait(struct debug_reader *reader, uint64_t until,
		struct wire_head *ret, struct cursor *body_ret) MUST_CHECK;

#endif
