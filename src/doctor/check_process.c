/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "agent/agent.h"
#include "doctor/check.h"
#include "sysdeps/arch.h"

static void check_program(const struct process_facts *process,
			  struct findings *findings)
{
	const int pid = (int)process->pid;

	if (process->access == -EACCES || process->access == -EPERM)
		findings_add(findings, VERDICT_LIMITED, "process", NULL,
			     "%d (%s), of user %u", pid, process->name,
			     process->status.uids[0]);
	else if (process->program_error)
		findings_add_vital(findings, VERDICT_NO, "process",
				   "trace a program for x86_64 or i386",
				   "%d (%s): its program can't be read, or is "
				   "for a processor that calltrap doesn't know "
				   "(%s)",
				   pid, process->name,
				   process->program_error == -ERR_GONE ?
					   "it has ended" :
				   process->program_error == -ETIMEDOUT ?
					   "its file system doesn't answer" :
					   strerror(-process->program_error));
	else if (process->frozen)
		findings_add_vital(findings, VERDICT_LIMITED, "process",
				   "thaw its cgroup",
				   "%d (%s), %s, is frozen by its cgroup: it "
				   "makes no calls, and can't be let go of",
				   pid, process->name, process->arch);
	else
		findings_add_vital(findings, VERDICT_OK, "process", NULL,
				   "%d (%s), %s, of user %u", pid,
				   process->name, process->arch,
				   process->status.uids[0]);
}

/* As agent_why_no_entry() has it, as far as it is seen from outside. */
static void check_agent(const struct machine_facts *machine,
			const struct process_facts *process,
			struct findings *findings)
{
	const char *why = NULL;

	if (!machine->has_agent)
		why = "there is none for this processor";
	else if (!machine->steady_tsc)
		why = "the processor's clock isn't steady";
	else if (process->arch && strcmp(process->arch, "x86_64") != 0)
		why = "it isn't a program of 64 bits";
	else if (process->status.seccomp)
		why = process->status.seccomp == 1 ? "seccomp (strict)" :
						     "seccomp (a filter)";
	else if (process->status.shadow_stack)
		why = "it has shadow stacks";
	else if (process->status.locked > AGENT_LOCKED_MOST)
		why = "it locks its memory";
	else if (process->space_limited)
		why = "its address space is limited (ulimit -v)";
	if (why)
		findings_add(findings, VERDICT_NO, "agent",
			     "traps work, and take its place",
			     "the agent stays outside: %s", why);
	else
		findings_add(findings, VERDICT_OK, "agent", NULL,
			     "nothing is seen that keeps it out");
}

static void check_shadow_stack(const struct process_facts *process,
			       struct findings *findings)
{
	findings_add(findings, VERDICT_OK, "shadow stack", NULL,
		     process->status.shadow_stack ?
			     "it has one, which is kept right" :
			     "it has none");
}

static void check_name_spaces(const struct process_facts *process,
			      struct findings *findings)
{
	CLEANUP(strbuf_fini) struct strbuf own = { 0 };
	unsigned unknown = 0;

	for (unsigned i = 0; i < NAME_SPACES; i++) {
		unknown += process->foreign[i] < 0;
		if (process->foreign[i] > 0)
			strbuf_printf(&own, "%s%s", own.length ? ", " : "",
				      name_space_names[i]);
	}
	if (unknown)
		findings_add(findings, VERDICT_LIMITED, "namespaces",
			     "get the permission to trace it",
			     "it isn't told whether they are ours");
	else if (!own.length)
		findings_add(findings, VERDICT_OK, "namespaces", NULL,
			     "the same as ours");
	else if (process->foreign[NS_PID])
		findings_add(findings, VERDICT_OK, "namespaces", NULL,
			     "its own: %s; to itself it is process %d",
			     strbuf_text(&own), (int)process->status.own_pid);
	else
		findings_add(findings, VERDICT_OK, "namespaces", NULL,
			     "its own: %s", strbuf_text(&own));
}

/* ---- memory ---- */

static uint64_t kib(uint64_t bytes)
{
	return bytes >> 10;
}

/* What writing traps takes: charge_has_room(). */
static void check_room(const struct process_facts *process,
		       struct findings *findings)
{
	const uint64_t room = process->vitals.room_bytes;
	const uint64_t page = PAGE_SIZE, some = 256;
	const char *path = process->vitals.room_path;

	if (room < process->spare + page)
		findings_add_vital(findings, VERDICT_NO, "memory limit",
				   "raise the limit of its cgroup, or run "
				   "calltrap in another one",
				   "%" PRIu64 " KiB are left, %" PRIu64
				   " KiB have to stay free (%s)",
				   kib(room), kib(process->spare), path);
	else if (room < process->spare + some * page)
		findings_add_vital(findings, VERDICT_LIMITED, "memory limit",
				   "name few functions, or raise the limit of "
				   "its cgroup",
				   "%" PRIu64 " KiB are left: traps in %" PRIu64
				   " pages of code fit (%s)",
				   kib(room), (room - process->spare) / page,
				   path);
	else
		findings_add_vital(findings, VERDICT_OK, "memory limit", NULL,
				   "%" PRIu64 " KiB are left (%s)", kib(room),
				   path);
}

static void check_limit(const struct process_facts *process,
			struct findings *findings)
{
	if (!process->has_vitals)
		findings_add(findings, VERDICT_LIMITED, "memory limit", NULL,
			     "not known: what /proc says of its memory can't "
			     "be read");
	else if (process->vitals.room_bytes != UINT64_MAX)
		check_room(process, findings);
	else if (process->vitals.cgroup_version)
		findings_add(findings, VERDICT_OK, "memory limit", NULL,
			     "none (cgroup v%u)",
			     process->vitals.cgroup_version);
	else
		findings_add(findings, VERDICT_LIMITED, "memory limit",
			     "mount the cgroup file systems where calltrap "
			     "runs",
			     "no cgroup of its memory is to be seen");
}

static void check_pages(const struct process_facts *process,
			struct findings *findings)
{
	if (process->pagemap_error)
		findings_add(findings, VERDICT_NO, "pages",
			     "get the permission to trace it",
			     "which of its pages are in memory isn't told: %s",
			     process->pagemap_error == -ERR_GONE ?
				     "it has ended" :
				     strerror(-process->pagemap_error));
	else
		findings_add(findings, VERDICT_OK, "pages", NULL,
			     "its pagemap can be read");
}

void check_process(const struct machine_facts *machine,
		   const struct process_facts *process,
		   struct findings *findings)
{
	if (!check_presence(process, findings))
		return;
	check_program(process, findings);
	check_permission(machine, process, findings);
	check_agent(machine, process, findings);
	check_shadow_stack(process, findings);
	check_name_spaces(process, findings);
	check_limit(process, findings);
	check_pages(process, findings);
	check_modules(machine, process, findings);
}
