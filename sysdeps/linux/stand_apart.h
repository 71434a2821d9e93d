/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_STAND_APART_H
#define CALLTRAP_STAND_APART_H

/*
 * In a process that was just forked, and is to outlive its parent: gives it a
 * session and a name of its own, keeps the OOM killer away and leaves the
 * control group, as far as it may.
 */
void stand_apart(const char *name);

#endif
