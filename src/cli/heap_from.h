/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_FROM_H
#define CALLTRAP_HEAP_FROM_H

#include "cli/options.h"
#include "recording/playback.h"

/* calltrap heap --from: reports of a recording. The exit status. */
int heap_from_run(const struct options *options);

/* What is wrong with a recording, told; 0, also when it only ends early. */
int heap_from_tell_end(const char *path, const struct playback_end *end);

/* So many events of it were dropped, if any. */
void heap_from_tell_dropped(const char *path, uint64_t events);

#endif
