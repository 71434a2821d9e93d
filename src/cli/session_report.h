/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SESSION_REPORT_H
#define CALLTRAP_SESSION_REPORT_H

#include "cli/session.h"

/* Says, when all is over, what it has cost, how calls were caught, and what was
   lost or missed: on standard error, a line for each. */
void session_report(struct session *session);

/* Which functions could not be trapped: see prober_tell_refused(). */
struct strbuf;
bool session_tell_refused(const struct session *session, struct strbuf *out);

#endif
