/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SHARERS_H
#define CALLTRAP_SHARERS_H

#include "tracee/tracer.h"

/*
 * Seizes the processes that share the memory of one that was just seized:
 * children of a vfork or clone(CLONE_VM) before we came, which would die of
 * the first int3; space->stranger is one that can't be. (Those that come later
 * are attached by the kernel.) Without kcmp(2), which may be forbidden, they
 * can't be told.
 */
void sharers_seize(struct tracee *tracee);

#endif
