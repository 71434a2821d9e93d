/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sysdeps/aarch64/registers.h"

/* A set of another size is that of a 32-bit task. */
static int peek(pid_t tid, long set, void *ret, size_t size)
{
	struct iovec vector = { ret, size };

	if (ptrace(PTRACE_GETREGSET, tid, set, &vector) < 0)
		return -errno;
	return vector.iov_len == size ? 0 : -ENODATA;
}

static int poke(pid_t tid, long set, const void *bytes, size_t size)
{
	struct iovec vector = { (void *)bytes, size };

	return ptrace(PTRACE_SETREGSET, tid, set, &vector) < 0 ? -errno : 0;
}

/*
 * A call's first argument, which its result is in now: "NUMBER 0xARGUMENT …".
 * No set of registers has it.
 */
static uint64_t first_argument(pid_t tid)
{
	char path[32], line[256];
	const char *space;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, line, sizeof(line) - 1);
		close(fd);
	}
	line[n > 0 ? n : 0] = '\0';
	space = strchr(line, ' ');
	return space ? strtoull(space, NULL, 16) : 0;
}

int arch_peek_regs(pid_t tid, struct regs *ret)
{
	int err = peek(tid, NT_PRSTATUS, &ret->user, sizeof(ret->user));

	if (!err)
		err = peek(tid, NT_ARM_TLS, &ret->thread, sizeof(ret->thread));
	if (err)
		return err;
	ret->restart =
		(int64_t)ret->user.regs[0] == -EINTR ? first_argument(tid) : 0;
	return 0;
}

int arch_poke_regs(pid_t tid, const struct regs *regs)
{
	return poke(tid, NT_PRSTATUS, &regs->user, sizeof(regs->user));
}

int arch_poke_ip(pid_t tid, taddr_t ip)
{
	struct regs regs;
	int err = peek(tid, NT_PRSTATUS, &regs.user, sizeof(regs.user));

	if (err)
		return err;
	aarch64_go(&regs, ip);
	return arch_poke_regs(tid, &regs);
}

int arch_peek_fp_regs(pid_t tid, struct fp_regs *ret)
{
	return peek(tid, NT_PRFPREG, &ret->user, sizeof(ret->user));
}
