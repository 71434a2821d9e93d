/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PERF_MAP_H
#define CALLTRAP_PERF_MAP_H

#include <sys/types.h>

#include "base/types.h"

/*
 * What JIT compilers tell of the code that they make, for perf: lines of
 * START SIZE NAME in /tmp/perf-PID.map, as the process itself sees /tmp and
 * its number.
 */
struct perf_maps;

struct perf_maps *perf_maps_new(void) MUST_CHECK;
void perf_maps_free(struct perf_maps *maps);

/*
 * The name of the code at an address, as of now; NULL when there is none.
 * Good until the next call.
 */
const char *perf_maps_find(struct perf_maps *maps, pid_t pid, taddr_t address,
			   taddr_t *start_ret);

#endif
