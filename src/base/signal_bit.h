/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SIGNAL_BIT_H
#define CALLTRAP_SIGNAL_BIT_H

#include <signal.h>
#include <stdint.h>

/* In the kernel's sets of signals, and in those of /proc/PID/status (proc(5)). */
#define SIGNAL_BIT(number) (UINT64_C(1) << ((number)-1))

/* Those that an instruction raises itself: held back they would kill the process. */
#define SIGNALS_OF_INSTRUCTIONS                                           \
	(SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS) | \
	 SIGNAL_BIT(SIGILL) | SIGNAL_BIT(SIGFPE))

/* Those that tell that calltrap itself has gone wrong: elements of an array. */
#define CRASH_SIGNALS SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS

#endif
