/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include "base/types.h"
#include "doctor/check.h"

#define WHAT "permission"

bool check_presence(const struct process_facts *process,
		    struct findings *findings)
{
	const struct procfs_status *status = &process->status;
	const char *name = process->name;
	const int pid = (int)process->pid;

	if (process->error == -ERR_GONE)
		findings_add_vital(findings, VERDICT_NO, "process",
				   "look for its number with pgrep, or use "
				   "--name",
				   "there is no process %d", pid);
	else if (process->error)
		findings_add_vital(findings, VERDICT_NO, "process",
				   "mount /proc without hidepid, or run "
				   "calltrap as root",
				   "%d: what /proc says of it can't be read: "
				   "%s",
				   pid, strerror(-process->error));
	else if (status->tgid != pid)
		findings_add_vital(findings, VERDICT_NO, "process",
				   "give the number of the process to -p",
				   "%d is a thread of process %d", pid,
				   (int)status->tgid);
	else if (status->state == 'Z' || status->state == 'X')
		findings_add_vital(findings, VERDICT_NO, "process",
				   "trace the program when it runs again",
				   "%d (%s) has ended already (it is a zombie)",
				   pid, name);
	else if (!status->has_memory && !process->kernel_thread)
		findings_add_vital(findings, VERDICT_NO, "process",
				   "trace the program when it runs again",
				   "%d (%s) has just ended", pid, name);
	else if (!status->has_memory)
		findings_add_vital(findings, VERDICT_NO, "process",
				   "there is nothing to trace in it",
				   "%d (%s) is a kernel thread", pid, name);
	else
		return true;
	return false;
}

/* ---- why the kernel says no ---- */

static bool is_of_other(const struct machine_facts *machine,
			const struct process_facts *process)
{
	const uid_t *uids = process->status.uids;
	const gid_t *gids = process->status.gids;

	for (unsigned i = 0; i < 3; i++)
		if (uids[i] != machine->own.uids[3] ||
		    gids[i] != machine->own.gids[3])
			return true;
	return false;
}

static bool is_able(const struct machine_facts *machine, int capability)
{
	return machine->own.caps_effective >> capability & 1;
}

/* Capabilities that it may have, and we may not: __ptrace_may_access(). */
static bool has_more_rights(const struct machine_facts *machine,
			    const struct process_facts *process)
{
	return process->status.caps_permitted & ~machine->own.caps_permitted;
}

static const char *const as_root = "run calltrap as root, or with "
				   "CAP_SYS_PTRACE";

static void add_no(struct findings *findings, const char *remedy,
		   const char *words)
{
	findings_add_vital(findings, VERDICT_NO, WHAT, remedy, "%s", words);
}

static void explain_unable(const struct machine_facts *machine,
			   const struct process_facts *process,
			   struct findings *findings)
{
	const bool root = !machine->own.uids[1];
	const char *remedy = root ? "give the container CAP_SYS_PTRACE "
				    "(--cap-add SYS_PTRACE)" :
				    as_root;

	if (is_of_other(machine, process))
		findings_add_vital(findings, VERDICT_NO, WHAT,
				   root ? remedy :
					  "run calltrap as that user or as "
					  "root",
				   "it belongs to another user or group (uid "
				   "%u, gid %u)",
				   process->status.uids[0],
				   process->status.gids[0]);
	else if (process->undumpable)
		add_no(findings, remedy,
		       "it isn't dumpable: it was set-user-ID, can't be read, "
		       "or asked for it with prctl");
	else if (has_more_rights(machine, process))
		add_no(findings, remedy,
		       "it has capabilities that calltrap hasn't");
	else if (machine->yama == 1)
		add_no(findings,
		       "run calltrap as root, or sysctl "
		       "kernel.yama.ptrace_scope=0",
		       "one's own children only (Yama: ptrace_scope is 1)");
	else if (machine->yama == 2)
		add_no(findings,
		       "run calltrap as root, or sysctl "
		       "kernel.yama.ptrace_scope=1",
		       "root only (Yama: ptrace_scope is 2)");
	else
		add_no(findings, remedy, "a security module forbids it");
}

static void explain_denial(const struct machine_facts *machine,
			   const struct process_facts *process,
			   struct findings *findings)
{
	if (machine->yama >= 3)
		add_no(findings,
		       "set kernel.yama.ptrace_scope lower in "
		       "/etc/sysctl.d and boot anew",
		       "nobody may, until the next boot (Yama: ptrace_scope is "
		       "3)");
	else if (process->foreign[NS_USER] == 1 &&
		 is_able(machine, CAP_SYS_PTRACE))
		add_no(findings, "run calltrap outside of the container",
		       "its user namespace isn't ours: CAP_SYS_PTRACE doesn't "
		       "count there");
	else if (is_able(machine, CAP_SYS_PTRACE) &&
		 is_of_other(machine, process) &&
		 !is_able(machine, CAP_DAC_OVERRIDE))
		add_no(findings, "give calltrap CAP_DAC_OVERRIDE, too",
		       "it belongs to another user, whose alone its memory's "
		       "file is");
	else if (is_able(machine, CAP_SYS_PTRACE))
		add_no(findings,
		       "look at the rules of SELinux or AppArmor, "
		       "and at the container's settings",
		       "a security module or a container's settings forbid it "
		       "even with CAP_SYS_PTRACE");
	else
		explain_unable(machine, process, findings);
}

void check_permission(const struct machine_facts *machine,
		      const struct process_facts *process,
		      struct findings *findings)
{
	if (process->status.tracer)
		findings_add_vital(findings, VERDICT_NO, WHAT,
				   "end that one first",
				   "it is being traced already by process %d "
				   "(%s)",
				   (int)process->status.tracer,
				   process->tracer_name);
	else if (process->access == -EACCES || process->access == -EPERM)
		explain_denial(machine, process, findings);
	else if (process->access)
		findings_add_vital(findings, VERDICT_NO, WHAT, "try again",
				   "its memory can't be opened: %s",
				   process->access == -ERR_GONE ?
					   "it has ended" :
					   strerror(-process->access));
	else
		findings_add_vital(findings, VERDICT_OK, WHAT, NULL,
				   "it may be traced%s",
				   is_of_other(machine, process) ?
					   " (CAP_SYS_PTRACE)" :
					   "");
}
