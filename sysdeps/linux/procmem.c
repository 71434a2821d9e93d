/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/procmem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

int procmem_fd(struct procmem *mem)
{
	char path[64];

	if (mem->fd < 0) {
		snprintf(path, sizeof(path), "/proc/%d/mem", (int)mem->pid);
		mem->fd = open(path, O_RDWR | O_CLOEXEC);
	}
	return mem->fd;
}

/*
 * A read that process_vm_readv refuses (a page without read permission, a
 * leader that has exited already), through the file.
 */
static size_t read_through_file(struct procmem *mem, taddr_t address,
				void *ret, size_t size)
{
	ssize_t n;

	if (procmem_fd(mem) < 0 || address > INT64_MAX)
		return 0;
	n = pread(mem->fd, ret, size, address);
	return n > 0 ? n : 0;
}

static size_t procmem_read(struct memory *memory, taddr_t address, void *ret,
			   size_t size)
{
	struct procmem *mem = (struct procmem *)memory;
	struct iovec local = { ret, size };
	struct iovec remote = { (void *)address, size };
	ssize_t n = process_vm_readv(mem->pid, &local, 1, &remote, 1, 0);

	if (n == (ssize_t)size)
		return size;
	if (n < 0)
		n = 0;
	return n + read_through_file(mem, address + n, (char *)ret + n,
				     size - n);
}

/* So many at a time; the kernel takes 1024 (UIO_MAXIOV). */
#define BATCH 256

/* Those up to the first one that can't be read. */
static size_t read_batch(const struct procmem *mem, const taddr_t *addresses,
			 size_t count, uint8_t *ret)
{
	struct iovec local = { ret, count }, remote[BATCH];
	ssize_t n;

	for (size_t i = 0; i < count; i++)
		remote[i] = (struct iovec){ (void *)addresses[i], 1 };
	n = process_vm_readv(mem->pid, &local, 1, remote, count, 0);
	return n > 0 ? n : 0;
}

void procmem_read_bytes(struct procmem *mem, const taddr_t *addresses,
			size_t count, uint8_t *ret, bool *known_ret)
{
	size_t done = 0;

	while (done < count) {
		size_t size = count - done < BATCH ? count - done : BATCH;
		size_t n = read_batch(mem, addresses + done, size, ret + done);

		for (size_t i = 0; i < n; i++)
			known_ret[done + i] = true;
		done += n;
		if (n == size)
			continue;
		known_ret[done] = memory_read_some(&mem->memory,
						   addresses[done],
						   ret + done, 1) == 1;
		done++;
	}
}

static int procmem_write(struct memory *memory, taddr_t address,
			 const void *bytes, size_t size)
{
	struct procmem *mem = (struct procmem *)memory;
	struct iovec local = { (void *)bytes, size };
	struct iovec remote = { (void *)address, size };
	ssize_t n = process_vm_writev(mem->pid, &local, 1, &remote, 1, 0);

	if (n == (ssize_t)size)
		return 0;
	if (n >= 0 || errno != ESRCH)
		return -EFAULT;
	/* That task has ended; whether the space has, the file knows. */
	if (mem->fd >= 0 && address <= INT64_MAX &&
	    pwrite(mem->fd, bytes, size, address) == (ssize_t)size)
		return 0;
	return -ERR_GONE;
}

static const struct memory_ops procmem_ops = {
	.read = procmem_read,
	.write = procmem_write,
};

void procmem_init(struct procmem *mem, pid_t pid)
{
	*mem = (struct procmem){
		.memory.ops = &procmem_ops,
		.pid = pid,
		.fd = -1,
	};
}

void procmem_fini(struct procmem *mem)
{
	if (mem->fd >= 0)
		close(mem->fd);
	mem->fd = -1;
}

void procmem_set_pid(struct procmem *mem, pid_t pid)
{
	mem->pid = pid;
}

int procmem_write_code(struct procmem *mem, taddr_t address,
		       const void *bytes, size_t size)
{
	ssize_t n;

	if (procmem_fd(mem) < 0)
		return errno == ENOENT || errno == ESRCH ? -ERR_GONE : -errno;
	if (address > INT64_MAX)
		return -EIO;
	n = pwrite(mem->fd, bytes, size, address);
	if (n == (ssize_t)size)
		return 0;
	/* 0: the address space has been torn down already. */
	return n == 0 ? -ERR_GONE : n < 0 ? -errno : -EIO;
}
