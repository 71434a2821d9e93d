/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SESSION_AGENT_H
#define CALLTRAP_SESSION_AGENT_H

#include "cli/session.h"

/*
 * Puts the agent on the configuration's list of engines where what the user
 * wants can be had by it: then .agent is there, otherwise .no_agent says why
 * not. The other parts of the configuration are filled in already.
 */
void session_open_agent(struct session *session, struct prober_config *config);

#endif
