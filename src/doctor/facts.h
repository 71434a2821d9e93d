/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FACTS_H
#define CALLTRAP_FACTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/vitals.h"

/* What was gathered, without a judgement: checks are made from it alone. */

/* Of the machine, and of ourselves on it. Errors are negative errnos, or 0. */
struct machine_facts {
	char release[65]; /* of the kernel: "6.1.0-18-amd64" */
	struct procfs_status own;
	int yama;              /* its ptrace_scope; -1: there is none */
	int ptrace_error;      /* of calling ptrace() at all */
	int thread_error;      /* of starting a thread */
	int perf_error;        /* of looking at our own page faults … */
	int perf_kernel_error; /* … and those that system calls take */
	int perf_paranoid;     /* kernel.perf_event_paranoid; -1: not known */
	int pagemap_error;     /* of our own */
	bool pagemap_scans;    /* as struct pagemap has it */
	int touch_error;       /* of asking which pages are in use … */
	bool dirty_bits;       /* … and whether those written are told */
	int code_error;        /* of writing to our own code */
	bool code_forbidden;   /* by the kernel's command line */
	uint64_t descriptors;  /* how many we may have */
	bool has_debuginfod;   /* the library */
	const char *debuginfod_urls;    /* NULL: none */
	bool has_agent;                 /* for this kind of processor */
	bool constant_tsc, nonstop_tsc; /* as the kernel tells */
	bool steady_tsc;                /* as the processor does */
	bool shadow_stacks;             /* for programs that ask for them */
	char clock_source[32];
};

/* An ELF file that a process maps code of. */
struct module_facts {
	char *path;     /* as the process sees it */
	char *build_id; /* in digits; "": it has none */
	int error;      /* of opening it */
	bool debug;     /* its debug information is there … */
	bool fetched;   /* … since debuginfod has fetched it before */
};

/* The namespaces that matter. */
enum name_space { NS_PID, NS_MNT, NS_USER, NS_NET, NS_CGROUP, NAME_SPACES };

extern const char *const name_space_names[NAME_SPACES];

struct process_facts {
	pid_t pid;
	pid_t live;                  /* a task of it that has not ended */
	int error;                   /* of reading its status */
	struct procfs_status status; /* of a task that has not ended */
	char name[64];
	char tracer_name[64];
	int access; /* of opening its memory: 0, -EACCES, … */
	bool undumpable;
	bool kernel_thread;       /* else what has no memory is ending */
	bool frozen;              /* by its cgroup */
	bool space_limited;       /* RLIMIT_AS */
	int foreign[NAME_SPACES]; /* 1: not ours; 0: ours; or an error */
	struct vitals vitals;     /* zeroed when not known … */
	bool has_vitals;
	uint64_t spare;    /* what has to stay free in its cgroup */
	int program_error; /* of opening it */
	const char *arch;  /* its processor: "x86_64" */
	int pagemap_error;
	const char *allocator; /* whose malloc it has, NULL: none was found */
	struct module_facts *modules;
	size_t module_count, module_room;
	size_t modules_left; /* mappings of further files */
};

#endif
