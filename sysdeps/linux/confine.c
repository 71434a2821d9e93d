/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "sysdeps/arch.h"
#include "sysdeps/linux/descriptors.h"

/* Beyond what files take, and in all of its life. */
#define MEMORY_MAX      (512ull << 20)
#define CPU_SECONDS_MAX 600

/* Debug sections are packed to a third, seldom to a tenth. */
#define UNPACKING 8

/* AddressSanitizer needs more system calls, all addresses, and its logs. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_INSTRUMENTED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_INSTRUMENTED true
#endif
#endif
#ifndef IS_INSTRUMENTED
#define IS_INSTRUMENTED false
#endif

static bool keep_only(int socket)
{
	int nowhere = descriptor_of_nothing();
	int fd;

	/* What libraries print must not end in the socket, or in a file. */
	if (nowhere < 0)
		return false;
	for (fd = 0; fd <= 2; fd++)
		if (fd != socket && fd != nowhere && dup2(nowhere, fd) != fd)
			return false;
	if (socket != CONFINED_SOCKET &&
	    dup2(socket, CONFINED_SOCKET) != CONFINED_SOCKET)
		return false;
	closefrom(CONFINED_SOCKET + 1);
	return true;
}

static void reset_signals(void)
{
	sigset_t none;
	int signal_number;

	for (signal_number = 1; signal_number < NSIG; signal_number++)
		(void)signal(signal_number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* What it takes of addresses already: a copy of the tracer. */
static uint64_t own_size(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file && fscanf(file, "%lu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return (uint64_t)pages * sysconf(_SC_PAGESIZE);
}

static void limit(int resource, uint64_t soft, uint64_t hard)
{
	const struct rlimit values = { soft, hard };

	(void)setrlimit(resource, &values);
}

static void limit_resources(void)
{
	limit(RLIMIT_CPU, CPU_SECONDS_MAX, CPU_SECONDS_MAX);
	limit(RLIMIT_NPROC, 0, 0);
	if (IS_INSTRUMENTED)
		return;
	limit(RLIMIT_FSIZE, 0, 0);
	limit(RLIMIT_AS, own_size() + MEMORY_MAX, RLIM_INFINITY);
}

void confine_allow(const int *fds, size_t count)
{
	struct rlimit values;
	struct stat status;
	size_t i;

	if (getrlimit(RLIMIT_AS, &values) || values.rlim_cur == RLIM_INFINITY)
		return;
	for (i = 0; i < count; i++)
		if (fds[i] >= 0 && !fstat(fds[i], &status))
			values.rlim_cur += status.st_size * UNPACKING;
	(void)setrlimit(RLIMIT_AS, &values);
}

static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	syscall(SYS_capset, &header, none);
}

#define LOAD(member)                       \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
		 offsetof(struct seccomp_data, member))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, (value))
#define ALLOW(number)                                            \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##number, 0, 1), \
		RETURN(SECCOMP_RET_ALLOW)

/*
 * Memory, its own limits, and what is sent to it. It can open nothing, write
 * to nothing but its socket, and reach no other process.
 */
static bool filter_system_calls(void)
{
	const struct sock_filter program[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, arch_native->audit, 1, 0),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		ALLOW(recvmsg),
		ALLOW(sendmsg),
		ALLOW(recvfrom),
		ALLOW(sendto),
		ALLOW(read),
		ALLOW(pread64),
		ALLOW(write),
		ALLOW(lseek),
		ALLOW(fstat),
		ALLOW(newfstatat),
		ALLOW(fcntl),
		ALLOW(close),
		ALLOW(brk),
		ALLOW(mmap),
		ALLOW(munmap),
		ALLOW(mremap),
		ALLOW(mprotect),
		ALLOW(madvise),
		ALLOW(futex),
		ALLOW(rt_sigaction),
		ALLOW(rt_sigprocmask),
		ALLOW(rt_sigreturn),
		ALLOW(getrandom),
		ALLOW(clock_gettime),
		ALLOW(exit),
		ALLOW(exit_group),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prlimit64, 0, 3),
		LOAD(args[0]),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
		RETURN(SECCOMP_RET_ALLOW),
		RETURN(SECCOMP_RET_ERRNO | EPERM),
	};
	const struct sock_fprog filter = {
		.len = ARRAY_SIZE(program),
		.filter = (struct sock_filter *)program,
	};

	return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

bool confine_leave(int socket, const char *name)
{
	/* Tracees are no business of this process. */
	fatal_set_hook(NULL, NULL);
	if (!keep_only(socket))
		return false;
	/* What is sent to calltrap's process group is not for it. */
	setsid();
	reset_signals();
	prctl(PR_SET_NAME, name);
	limit(RLIMIT_CORE, 0, 0);
	(void)prctl(PR_SET_DUMPABLE, 0);
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

bool confine(int socket)
{
	if (!confine_leave(socket, "calltrap-dwarf"))
		return false;
	limit_resources();
	drop_capabilities();
	/* Kernels without it have the rest of the fence. */
	return IS_INSTRUMENTED || filter_system_calls() || errno == EINVAL;
}
