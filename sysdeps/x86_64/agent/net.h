/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_NET_H
#define CALLTRAP_AGENT_NET_H

/*
 * For who has hit a trap when calltrap was killed, and would die of it: a handler
 * of SIGTRAP. The program's own, if it has one, is handed the first that isn't ours,
 * and has all from then on. (While calltrap lives it takes ours away.)
 */
void agent_net_spread(void) __attribute__((visibility("hidden")));

#endif
