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
 * A call's first argument, which its result is in now: no set of registers has
 * it. /proc has ("NUMBER 0xARGUMENT …") at the call's own end; but in a stop that
 * has ended it the kernel has forgotten the call already ("-1 0xSP 0xPC").
 */
static bool first_argument(pid_t tid, int number, uint64_t *ret)
{
	char path[32], line[256];
	ssize_t n = -1;
	char *end;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, line, sizeof(line) - 1);
		close(fd);
	}
	line[n > 0 ? n : 0] = '\0';
	if (strtol(line, &end, 10) != number || *end != ' ')
		return false;
	*ret = strtoull(end, NULL, 16);
	return true;
}

static bool may_be_made_again(int64_t result)
{
	return result == -EINTR || result == -AARCH64_RESTARTBLOCK;
}

int arch_peek_regs(pid_t tid, struct regs *ret)
{
	int err = peek(tid, NT_PRSTATUS, &ret->user, sizeof(ret->user));

	if (!err)
		err = peek(tid, NT_ARM_TLS, &ret->thread, sizeof(ret->thread));
	if (err)
		return err;
	ret->interrupted = may_be_made_again((int64_t)ret->user.regs[0]) &&
			   first_argument(tid,
					  (int)ret->user.regs[AARCH64_NUMBER],
					  &ret->restart);
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

#define KERNEL_HALF (1ull << 55)

/*
 * The processor makes nothing of a pointer's upper byte, which programs use
 * (HWASan's do, and those whose memory is tagged); files of /proc do.
 */
taddr_t arch_untagged(taddr_t pointer)
{
	return pointer & KERNEL_HALF ? pointer : pointer & ~AARCH64_TAG;
}
