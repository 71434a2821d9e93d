/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_TAIL_CALLS_H
#define CALLTRAP_TAIL_CALLS_H

#define KEEP __attribute__((noinline))

extern int sum;

void probe_here(int n);
int other_first(int n);

#endif
