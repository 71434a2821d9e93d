/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_REPLAY_LAUNCH_H
#define CALLTRAP_REPLAY_LAUNCH_H

#include "replay/plan.h"

/*
 * Carries out a plan (its memory's descriptor) in a process of its own, with an
 * allocator: a file's path, a name that the dynamic linker looks for, or "" for
 * the C library's. Or only checks that it is this one that answers there. 0:
 * *ret is filled in; or a negative errno, and its .problem may say why.
 */
int launch_plan(int plan, const char *file, bool check_only,
		struct replay_result *ret) MUST_CHECK;

#endif
