/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GATHER_H
#define CALLTRAP_GATHER_H

#include "doctor/facts.h"

/* Everything here only reads: nothing is attached to, nothing changes. */

void machine_facts_gather(struct machine_facts *ret);

/* Whether the words of a "flags" line of /proc/cpuinfo have this one. */
bool cpu_flags_have(const char *line, const char *flag);

void process_facts_gather(pid_t pid, struct process_facts *ret);
void process_facts_fini(struct process_facts *facts);

/* Its modules, its program and its allocator. */
void modules_gather(struct process_facts *facts);

#endif
