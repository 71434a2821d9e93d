/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CHECK_H
#define CALLTRAP_CHECK_H

#include "doctor/facts.h"
#include "doctor/findings.h"

/* Pure functions: what facts mean for whoever wants to trace. */

void check_machine(const struct machine_facts *machine,
		   struct findings *findings);

void check_process(const struct machine_facts *machine,
		   const struct process_facts *process,
		   struct findings *findings);

/* Whether it can be attached to. False when it isn't there, or makes no calls:
   nothing else is to be said of it then. */
bool check_presence(const struct process_facts *process,
		    struct findings *findings);
void check_permission(const struct machine_facts *machine,
		      const struct process_facts *process,
		      struct findings *findings);

/* Debug information, a finding for each module; and the allocator. */
void check_modules(const struct machine_facts *machine,
		   const struct process_facts *process,
		   struct findings *findings);

#endif
