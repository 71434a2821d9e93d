/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_NET_H
#define CALLTRAP_AGENT_NET_H

#include <stdbool.h>

/*
 * For who has hit a trap when calltrap was killed, and would die of it: a handler
 * of SIGTRAP. The program's own, if it has one, is handed the first that isn't ours,
 * and has all from then on. (While calltrap lives it takes ours away.)
 * again: it was known before; it is lost, or the process is another one.
 */
void agent_net_spread(bool again) __attribute__((visibility("hidden")));

#endif
