/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/ticks.h"
#include "base/file.h"
#include "debuginfo/fetch_library.h"
#include "doctor/gather.h"
#include "memory/touched.h"
#include "sysdeps/arch.h"
#include "sysdeps/linux/pagemap.h"

/* The first line of a file, without its end; "" when there is none. */
static void read_line(const char *path, char *ret, size_t size)
{
	FILE *file CLEANUP(file_close_cleanup) = fopen(path, "re");

	*ret = '\0';
	if (file && fgets(ret, (int)size, file))
		ret[strcspn(ret, "\n")] = '\0';
}

/* ---- what we may do, tried on ourselves ---- */

/* There is no process 0: only who may not call it at all is told otherwise. */
static int try_ptrace(void)
{
	errno = 0;
	(void)ptrace(PTRACE_CONT, 0, NULL, NULL);
	return errno == ESRCH ? 0 : -errno;
}

static void *end_at_once(void *context)
{
	return context;
}

static int try_thread(void)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, end_at_once, NULL);

	if (!error)
		pthread_join(thread, NULL);
	return -error;
}

static int try_perf(bool in_kernel)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.disabled = 1,
		.exclude_kernel = !in_kernel,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			      PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* As traps are: past the protection of a private mapping. */
static int write_page(void *page)
{
	const ssize_t size = arch_native->trap_size;
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (pwrite(fd, &arch_native->trap, size, (off_t)(uintptr_t)page) !=
	    size)
		err = errno ? -errno : -EIO;
	close(fd);
	return err;
}

static int try_code(void)
{
	void *page = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err;

	/* Who may have no code of its own can't try. */
	if (page == MAP_FAILED)
		return 0;
	err = write_page(page);
	munmap(page, PAGE_SIZE);
	return err;
}

static void try_pagemap(struct machine_facts *facts)
{
	struct pagemap map;

	facts->pagemap_error = pagemap_open(&map, getpid());
	if (facts->pagemap_error)
		return;
	facts->pagemap_scans = map.scans;
	pagemap_close(&map);
}

/* ---- what the kernel tells ---- */

bool cpu_flags_have(const char *line, const char *flag)
{
	const size_t n = strlen(flag);
	const char *words = strchr(line, ':');

	for (const char *s = words; s && (s = strstr(s, flag)); s += n)
		if ((s[-1] == ' ' || s[-1] == '\t' || s[-1] == ':') &&
		    (!s[n] || s[n] == ' ' || s[n] == '\n'))
			return true;
	return false;
}

static void read_cpu(struct machine_facts *facts)
{
	FILE *file CLEANUP(file_close_cleanup) = fopen("/proc/cpuinfo", "re");
	char line[8192];

	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "flags", strlen("flags")) != 0)
			continue;
		facts->constant_tsc = cpu_flags_have(line, "constant_tsc");
		facts->nonstop_tsc = cpu_flags_have(line, "nonstop_tsc");
		facts->shadow_stacks = cpu_flags_have(line, "user_shstk");
		break;
	}
	facts->has_agent = ticks_are_used();
	facts->steady_tsc = ticks_are_steady();
	read_line("/sys/devices/system/clocksource/clocksource0/"
		  "current_clocksource",
		  facts->clock_source, sizeof(facts->clock_source));
}

static void read_kernel(struct machine_facts *facts)
{
	struct utsname name;
	char line[4096];

	if (!uname(&name))
		snprintf(facts->release, sizeof(facts->release), "%s",
			 name.release);
	facts->yama = procfs_ptrace_scope();
	read_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof(line));
	facts->perf_paranoid = *line ? atoi(line) : -1;
	read_line("/proc/cmdline", line, sizeof(line));
	facts->code_forbidden = strstr(line, "proc_mem.force_override=never");
}

static void read_environment(struct machine_facts *facts)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct rlimit files;

	facts->debuginfod_urls = urls && *urls ? urls : NULL;
	facts->has_debuginfod = fetch_library_load();
	if (!getrlimit(RLIMIT_NOFILE, &files))
		facts->descriptors = files.rlim_cur;
}

void machine_facts_gather(struct machine_facts *ret)
{
	*ret = (struct machine_facts){ 0 };
	/* Without /proc we have no rights that are known. */
	if (procfs_status(getpid(), &ret->own))
		ret->own = (struct procfs_status){ 0 };
	read_kernel(ret);
	read_cpu(ret);
	read_environment(ret);
	ret->ptrace_error = try_ptrace();
	ret->thread_error = try_thread();
	ret->perf_error = try_perf(false);
	ret->perf_kernel_error = try_perf(true);
	ret->code_error = try_code();
	try_pagemap(ret);
	ret->touch_error = touched_try(&ret->dirty_bits);
}
