/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SLOW_READER_H
#define CALLTRAP_SLOW_READER_H

#include <sys/types.h>

#include "base/types.h"

/*
 * A thread that reads memory which may take for ever to come, for those who
 * can't wait so long: the kernel lets nothing but SIGKILL end such a read.
 */
struct slow_reader;

/* NULL when there can be no further thread. */
struct slow_reader *slow_reader_new(void);

/* It ends as soon as its last read does. NULL is fine. */
void slow_reader_free(struct slow_reader *reader);

/*
 * How many bytes there were at the address of a process, of at most a page. 0
 * when there are none, or they didn't come within a tenth of a second; nothing
 * is asked for then for a while, or as long as they still haven't come.
 */
size_t slow_reader_read(struct slow_reader *reader, pid_t pid, taddr_t address,
			void *ret, size_t size);

#endif
