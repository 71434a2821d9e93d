/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_EXITS_H
#define CALLTRAP_AGENT_EXITS_H

#include "sysdeps/x86_64/agent/agent.h"

/*
 * Its entry was written down: this has its room. But all of it may have been
 * replaced by zeros since.
 */
void note_return(const struct config *config, const struct agent_frame *frame,
		 enum agent_watch_kind kind) HIDDEN;

#endif
