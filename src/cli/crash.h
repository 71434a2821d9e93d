/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CRASH_H
#define CALLTRAP_CRASH_H

/*
 * When the calling thread, or one that thread_begin() has begun, crashes
 * (SIGSEGV, SIGABRT and the like), or its stack overflows, the fatal hook is run
 * before calltrap dies of it. Signals that somebody else handles already (a
 * sanitizer) are left to that.
 */
void crash_prepare(void);

/* The thread is about to end: its signal stack is given back. */
void crash_done(void);

#endif
