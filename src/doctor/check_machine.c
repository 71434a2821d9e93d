/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "doctor/check.h"
#include "sysdeps/linux/descriptors.h"

static bool has_capability(const struct machine_facts *machine, int number)
{
	return machine->own.caps_effective >> number & 1;
}

/* ---- kernel ---- */

static bool is_older(const unsigned version[2], unsigned major, unsigned minor)
{
	return version[0] < major ||
	       (version[0] == major && version[1] < minor);
}

static void check_kernel(const struct machine_facts *machine,
			 struct findings *findings)
{
	const char *release = machine->release;
	unsigned v[2];

	if (sscanf(release, "%u.%u", &v[0], &v[1]) != 2)
		findings_add(findings, VERDICT_LIMITED, "kernel", NULL,
			     "Linux %s: its version can't be told", release);
	else if (is_older(v, 4, 18))
		findings_add_vital(findings, VERDICT_NO, "kernel",
				   "use Linux 4.18 or newer",
				   "Linux %s: too old", release);
	else if (is_older(v, 5, 3))
		findings_add(findings, VERDICT_LIMITED, "kernel",
			     "-S needs Linux 5.3, huge pages in --growth 6.7",
			     "Linux %s: no system calls (-S), huge pages not "
			     "told apart",
			     release);
	else if (is_older(v, 6, 7))
		findings_add(findings, VERDICT_LIMITED, "kernel",
			     "that needs Linux 6.7",
			     "Linux %s: huge pages not told apart (--growth)",
			     release);
	else
		findings_add(findings, VERDICT_OK, "kernel", NULL, "Linux %s",
			     release);
}

/* ---- tracing ---- */

/* By the value of ptrace_scope; Documentation/admin-guide/LSM/Yama.rst. */
static void check_yama(const struct machine_facts *machine,
		       struct findings *findings)
{
	const bool able = has_capability(machine, CAP_SYS_PTRACE);

	if (machine->yama >= 3)
		findings_add_vital(findings, VERDICT_NO, "ptrace",
				   "set kernel.yama.ptrace_scope lower in "
				   "/etc/sysctl.d and boot anew",
				   "forbidden to all until the next boot (Yama: "
				   "ptrace_scope is %d)",
				   machine->yama);
	else if (able)
		findings_add_vital(findings, VERDICT_OK, "ptrace", NULL,
				   "allowed, processes of all users "
				   "(CAP_SYS_PTRACE)");
	else if (machine->yama == 2)
		findings_add_vital(findings, VERDICT_NO, "ptrace",
				   "run calltrap as root, or sysctl "
				   "kernel.yama.ptrace_scope=1",
				   "allowed with CAP_SYS_PTRACE only (Yama: "
				   "ptrace_scope is 2)");
	else if (machine->yama == 1)
		findings_add_vital(findings, VERDICT_LIMITED, "ptrace",
				   "for -p run calltrap as root, or sysctl "
				   "kernel.yama.ptrace_scope=0",
				   "programs that calltrap starts, only (Yama: "
				   "ptrace_scope is 1)");
	else if (!machine->own.uids[1])
		findings_add_vital(findings, VERDICT_LIMITED, "ptrace",
				   "give the container CAP_SYS_PTRACE "
				   "(--cap-add SYS_PTRACE)",
				   "root without CAP_SYS_PTRACE: processes with "
				   "the same rights, only");
	else
		findings_add_vital(findings, VERDICT_OK, "ptrace", NULL,
				   "allowed, processes of user %u",
				   machine->own.uids[1]);
}

static void check_ptrace(const struct machine_facts *machine,
			 struct findings *findings)
{
	if (machine->ptrace_error)
		findings_add_vital(findings, VERDICT_NO, "ptrace",
				   "leave it to the container: docker run "
				   "--cap-add SYS_PTRACE (or --security-opt "
				   "seccomp=unconfined)",
				   "the system call is filtered (%s)",
				   strerror(-machine->ptrace_error));
	else
		check_yama(machine, findings);
}

/* The one that traces; others write, and guard. */
static void check_threads(const struct machine_facts *machine,
			  struct findings *findings)
{
	if (machine->thread_error == -EPERM)
		findings_add_vital(findings, VERDICT_NO, "threads",
				   "let the container's filter allow clone3, or "
				   "say ENOSYS to it (--security-opt "
				   "seccomp=unconfined)",
				   "the system call is filtered (%s)",
				   strerror(EPERM));
	else if (machine->thread_error)
		findings_add_vital(findings, VERDICT_NO, "threads",
				   "raise the limits of processes (ulimit -u, "
				   "pids.max of the cgroup) or of memory "
				   "(ulimit -v)",
				   "none can be had: %s",
				   strerror(-machine->thread_error));
	else
		findings_add_vital(findings, VERDICT_OK, "threads", NULL,
				   "calltrap may have them");
}

static void check_code(const struct machine_facts *machine,
		       struct findings *findings)
{
	const char *remedy = "boot with proc_mem.force_override=always or "
			     "=ptrace";

	if (!machine->code_error)
		findings_add_vital(findings, VERDICT_OK, "traps", NULL,
				   "code can be written");
	else if (machine->code_forbidden)
		findings_add_vital(findings, VERDICT_NO, "traps", remedy,
				   "no code can be written "
				   "(proc_mem.force_override=never)");
	else
		findings_add_vital(findings, VERDICT_LIMITED, "traps", remedy,
				   "code can be written by tracers at most "
				   "(/proc/PID/mem: %s)",
				   strerror(-machine->code_error));
}

static void check_descriptors(const struct machine_facts *machine,
			      struct findings *findings)
{
	const uint64_t few = 256;

	if (machine->descriptors < DESCRIPTORS_MIN)
		findings_add_vital(findings, VERDICT_NO, "descriptors",
				   "ulimit -n 1024",
				   "%" PRIu64 " may be open, %d are needed",
				   machine->descriptors, DESCRIPTORS_MIN);
	else if (machine->descriptors < few)
		findings_add_vital(findings, VERDICT_LIMITED, "descriptors",
				   "ulimit -n 1024",
				   "%" PRIu64
				   " may be open: few processes at a "
				   "time",
				   machine->descriptors);
	else
		findings_add_vital(findings, VERDICT_OK, "descriptors", NULL,
				   "%" PRIu64 " may be open",
				   machine->descriptors);
}

/* ---- memory that grows ---- */

static void check_perf(const struct machine_facts *machine,
		       struct findings *findings)
{
	const char *remedy = "run calltrap as root or with CAP_PERFMON, or "
			     "sysctl kernel.perf_event_paranoid=1";
	const int paranoid = machine->perf_paranoid;

	if (machine->perf_error == -ENOENT || machine->perf_error == -ENOSYS)
		findings_add(findings, VERDICT_NO, "page faults",
			     "use a kernel with perf events",
			     "the kernel has no perf events (--growth faults)");
	else if (machine->perf_error)
		findings_add(findings, VERDICT_NO, "page faults", remedy,
			     "not shown (--growth faults): %s "
			     "(perf_event_paranoid is %d)",
			     strerror(-machine->perf_error), paranoid);
	else if (machine->perf_kernel_error)
		findings_add(findings, VERDICT_LIMITED, "page faults", remedy,
			     "those that system calls take aren't shown "
			     "(--growth faults; perf_event_paranoid is %d)",
			     paranoid);
	else
		findings_add(findings, VERDICT_OK, "page faults", NULL,
			     "all are shown (perf_event_paranoid is %d)",
			     paranoid);
}

static void check_pagemap(const struct machine_facts *machine,
			  struct findings *findings)
{
	if (machine->pagemap_error)
		findings_add(findings, VERDICT_NO, "pagemap",
			     "use a kernel with CONFIG_PROC_PAGE_MONITOR",
			     "which pages are in memory isn't told: %s",
			     strerror(-machine->pagemap_error));
	else if (!machine->pagemap_scans)
		findings_add(findings, VERDICT_LIMITED, "pagemap",
			     "use Linux 6.7 or newer",
			     "read entry by entry, huge pages unknown");
	else
		findings_add(findings, VERDICT_OK, "pagemap", NULL,
			     "read and scanned");
}

/* Since when a page wasn't written is kept for who has asked for it before
   (userfaultfd, PAGEMAP_SCAN), so no kernel tells it of a process that hasn't. */
static void check_touched(const struct machine_facts *machine,
			  struct findings *findings)
{
	if (machine->touch_error)
		findings_add(findings, VERDICT_NO, "pages in use",
			     "use a kernel with CONFIG_PROC_PAGE_MONITOR",
			     "not told (memory --touched; "
			     "/proc/PID/clear_refs: %s)",
			     strerror(-machine->touch_error));
	else if (machine->dirty_bits)
		findings_add(findings, VERDICT_LIMITED, "pages in use",
			     "a kernel without CONFIG_MEM_SOFT_DIRTY tells of "
			     "all",
			     "\"at least\" so many (memory --touched): the "
			     "kernel keeps what is written");
	else
		findings_add(findings, VERDICT_OK, "pages in use", NULL,
			     "told while watched (memory --touched), not since "
			     "when they weren't");
}

/* ---- the rest ---- */

static void check_debuginfod(const struct machine_facts *machine,
			     struct findings *findings)
{
	if (!machine->has_debuginfod)
		findings_add(findings, VERDICT_LIMITED, "debuginfod",
			     "install libdebuginfod1 (calltrap-static never "
			     "fetches)",
			     "no library: debug information isn't fetched");
	else if (!machine->debuginfod_urls)
		findings_add(findings, VERDICT_LIMITED, "debuginfod",
			     "export DEBUGINFOD_URLS="
			     "https://debuginfod.elfutils.org",
			     "DEBUGINFOD_URLS isn't set: debug information "
			     "isn't fetched");
	else
		findings_add(findings, VERDICT_OK, "debuginfod", NULL,
			     "fetches from %s", machine->debuginfod_urls);
}

static void check_cpu(const struct machine_facts *machine,
		      struct findings *findings)
{
	const char *source = machine->clock_source;

	if (!machine->has_agent)
		findings_add(findings, VERDICT_LIMITED, "processor clock",
			     "traps work, and take its place",
			     "no --engine=agent is written for this "
			     "processor; clock source %s",
			     *source ? source : "unknown");
	else if (!machine->steady_tsc)
		findings_add(findings, VERDICT_LIMITED, "processor clock",
			     "traps work, and take its place",
			     "no invariant TSC: no agent in processes");
	else if (!machine->constant_tsc || !machine->nonstop_tsc)
		findings_add(findings, VERDICT_LIMITED, "processor clock",
			     "compare times with --engine=trap",
			     "invariant by itself, but the kernel has %s "
			     "constant_tsc, %s nonstop_tsc: times of "
			     "calls in the process may be wrong",
			     machine->constant_tsc ? "a" : "no",
			     machine->nonstop_tsc ? "a" : "no");
	else
		findings_add(findings, VERDICT_OK, "processor clock", NULL,
			     "constant_tsc, nonstop_tsc; clock source %s",
			     *source ? source : "unknown");
	findings_add(findings, VERDICT_OK, "shadow stacks", NULL,
		     machine->shadow_stacks ?
			     "programs may have them, and are traced with them" :
			     "no program has them here");
}

void check_machine(const struct machine_facts *machine,
		   struct findings *findings)
{
	check_kernel(machine, findings);
	check_ptrace(machine, findings);
	check_threads(machine, findings);
	check_code(machine, findings);
	check_descriptors(machine, findings);
	check_perf(machine, findings);
	check_pagemap(machine, findings);
	check_touched(machine, findings);
	check_debuginfod(machine, findings);
	check_cpu(machine, findings);
}
