/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_ROOM_H
#define CALLTRAP_ROOM_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/types.h"

/* Where in a process's address space memory for the agent may lie. */

/* An address where so many bytes are free now; 0: nowhere. Counts mappings. */
taddr_t room_find(pid_t pid, uint64_t size, size_t *mappings_ret);

/*
 * Where pages for the jump over a function's first bytes may be mapped. Returns
 * -ENOSPC where that is nowhere within its reach, or -EAGAIN: the task that was
 * asked has just ended, and shows no mappings.
 */
struct x86_entry;
int room_find_target(pid_t pid, const struct x86_entry *entry,
		     taddr_t *ret) MUST_CHECK;

/*
 * Whether that is one mapping now, as the agent's is: private, of no file,
 * readable and executable.
 */
bool room_is_taken(pid_t pid, taddr_t address, uint64_t size);

#endif
