/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_RSEQ_H
#define CALLTRAP_RSEQ_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether a stopped task stands in a restartable sequence (rseq(2)), or may: if it
 * ran elsewhere in between, the kernel wouldn't know that it was interrupted.
 */
bool rseq_is_entered(pid_t tid);

#endif
