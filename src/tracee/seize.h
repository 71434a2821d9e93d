/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SEIZE_H
#define CALLTRAP_SEIZE_H

#include <sys/ptrace.h>

/*
 * Children are always traced, with or without -f: one that isn't would die of
 * the int3s in its copy of the code.
 */
#define SEIZE_OPTIONS                                                       \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | \
	 PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEVFORKDONE)

#endif
