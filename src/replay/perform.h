/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PERFORM_H
#define CALLTRAP_PERFORM_H

#include "replay/plan.h"

/*
 * Carries out a plan with the allocator of this process, and measures it.
 * False: result->problem says why not.
 */
bool perform(const struct replay_plan *plan, struct replay_result *result);

#endif
