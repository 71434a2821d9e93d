/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_REPLAY_H
#define CALLTRAP_REPLAY_H

#include "cli/options.h"

/* calltrap replay: a recording with other allocators. The exit status. */
int replay_run(const struct options *options);

#endif
