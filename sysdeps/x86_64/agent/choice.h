/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_CHOICE_H
#define CALLTRAP_AGENT_CHOICE_H

#include "sysdeps/x86_64/agent/agent.h"

/* If it is where it is looked for first. */
struct agent_thread *known_thread(void) HIDDEN;

/* How far it is to the next mark: at random, so far in the mean, and a bit. */
uint64_t next_distance(uint64_t mean) HIDDEN;

#endif
