/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_REMAINS_H
#define CALLTRAP_REMAINS_H

#include <string.h>

#include "tracee/space.h"

/* What the agent's shared memory is called in /proc/PID/maps. */
#define REMAINS_NAME "/memfd:calltrap-agent"

static inline bool remains_is_name(const char *path)
{
	return !strncmp(path, REMAINS_NAME, strlen(REMAINS_NAME));
}

/* So much of an agent of this build lies before what it shares; 0 where there is
   none for the machine. */
uint64_t remains_size_before(void);

/*
 * Agents that an earlier calltrap has left in a space: the first one above an
 * address, or 0. It need not be ours byte for byte.
 */
taddr_t remains_find(const struct space *space, taddr_t after);

/* Whether what it shares is mapped there as it was, and has that size. */
bool remains_is_whole(const struct space *space, taddr_t base, uint64_t size);

/*
 * The bytes of functions over which such ones have left a jump are the
 * functions' again: before anybody reads them, as whoever is to be trapped
 * there is told by them. All that run there are ours. Returns how many.
 */
size_t remains_repair_code(struct space *space);

/*
 * Slots that lead to such ones, of a calltrap that was killed, lead again where
 * they led before. Returns how many did not.
 */
size_t remains_repair(struct space *space);

#endif
