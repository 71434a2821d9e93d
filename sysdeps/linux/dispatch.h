/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DISPATCH_H
#define CALLTRAP_DISPATCH_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether system calls of a stopped task go to a handler of its own (SIGSYS), but for
 * those from one range of code: prctl(2), PR_SET_SYSCALL_USER_DISPATCH, Linux 5.11. It
 * can be seen since 6.4; false before.
 */
bool dispatch_is_on(pid_t tid);

#endif
