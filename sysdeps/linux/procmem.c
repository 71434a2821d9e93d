/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/procmem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sysdeps/arch.h"
#include "sysdeps/linux/served_files.h"
#include "sysdeps/linux/slow_reader.h"

int procmem_fd(struct procmem *mem)
{
	char path[64];

	if (mem->fd < 0) {
		snprintf(path, sizeof(path), "/proc/%d/mem", (int)mem->pid);
		mem->fd = open(path, O_RDWR | O_CLOEXEC);
	}
	return mem->fd;
}

#define PAGE         4096
#define PAGE_PRESENT (1ull << 63 | 1ull << 62) /* or in swap space */

/* Mounts come and go without a word. */
#define READS_A_LOOK 4096

/* Taken once, by who has such mounts; without memory there is nothing. */
static void begin_to_look(struct procmem *mem, const struct served_files *now)
{
	char path[64];

	mem->served = malloc(sizeof(*mem->served));
	if (!mem->served)
		return;
	*mem->served = *now;
	mem->slow = slow_reader_new();
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)mem->pid);
	mem->pagemap = open(path, O_RDONLY | O_CLOEXEC);
}

static void look_at_mounts(struct procmem *mem)
{
	struct served_files now = { .count = 0 };

	mem->reads = READS_A_LOOK;
	served_files_read(&now, mem->pid);
	if (!mem->served && now.count)
		begin_to_look(mem, &now);
	else if (mem->served)
		*mem->served = now;
}

void procmem_know_mounts(struct procmem *mem)
{
	mem->reads = UINT_MAX;
}

static size_t read_through_file(const struct procmem *mem, taddr_t address,
				void *ret, size_t size)
{
	ssize_t n = address > INT64_MAX ? 0 :
					  pread(mem->fd, ret, size, address);

	return n > 0 ? n : 0;
}

size_t procmem_read_code(struct procmem *mem, taddr_t address, void *ret,
			 size_t size)
{
	return procmem_fd(mem) < 0 ? 0 :
				     read_through_file(mem, address, ret, size);
}

/* In need only: userfaultfd makes this wait. SIGKILL ends it. */
static size_t read_by_call(const struct procmem *mem, taddr_t address,
			   void *ret, size_t size)
{
	struct iovec local = { ret, size };
	struct iovec remote = { (void *)address, size };
	ssize_t n = process_vm_readv(mem->pid, &local, 1, &remote, 1, 0);

	return n > 0 ? n : 0;
}

size_t procmem_read_present(struct procmem *mem, taddr_t address, void *ret,
			    size_t size)
{
	return read_by_call(mem, address, ret, size);
}

static bool is_present(const struct procmem *mem, taddr_t address)
{
	uint64_t entry;

	return pread(mem->pagemap, &entry, sizeof(entry),
		     address / PAGE * sizeof(entry)) == sizeof(entry) &&
	       entry & PAGE_PRESENT;
}

/* What doesn't go beyond its page. One that is there may go just now. */
static size_t read_in_page(const struct procmem *mem, taddr_t address,
			   void *ret, size_t size)
{
	if (address > INT64_MAX)
		return 0;
	if (is_present(mem, address)) {
		size_t n = read_by_call(mem, address, ret, size);

		/* It has no read permission, or its leader has exited. */
		return n ? n : read_through_file(mem, address, ret, size);
	}
	if (!served_files_hold(mem->served, mem->pid, address))
		return read_through_file(mem, address, ret, size);
	return mem->slow ? slow_reader_read(mem->slow, mem->pid, address, ret,
					    size) :
			   0;
}

static size_t read_pages(const struct procmem *mem, taddr_t address, void *ret,
			 size_t size)
{
	size_t done = 0;

	while (done < size) {
		size_t want = PAGE - (address + done) % PAGE, got;

		if (want > size - done)
			want = size - done;
		got = read_in_page(mem, address + done, (char *)ret + done,
				   want);
		done += got;
		if (got < want)
			break;
	}
	return done;
}

static size_t procmem_read(struct memory *memory, taddr_t address, void *ret,
			   size_t size)
{
	struct procmem *mem = (struct procmem *)memory;

	address = arch_untagged(address);
	if (!mem->reads--)
		look_at_mounts(mem);
	if (procmem_fd(mem) < 0)
		return read_by_call(mem, address, ret, size);
	if (mem->served && mem->served->count && mem->pagemap >= 0)
		return read_pages(mem, address, ret, size);
	return read_through_file(mem, address, ret, size);
}

static bool is_there(struct procmem *mem, taddr_t address)
{
	char byte;

	return procmem_fd(mem) < 0 ||
	       procmem_read(&mem->memory, address, &byte, 1) == 1;
}

/*
 * Whether a write could wait for its page, or two. (Through the file it can't,
 * but that passes over the protection of guard pages.)
 */
static bool may_wait(struct procmem *mem, taddr_t address, size_t size)
{
	return !is_there(mem, address) || (address % PAGE + size > PAGE &&
					   !is_there(mem, address + size - 1));
}

/* So many at a time; the kernel takes 1024 (UIO_MAXIOV). */
#define BATCH 256

/* Those up to the first one that can't be read. */
static size_t read_batch(const struct procmem *mem, const taddr_t *addresses,
			 size_t count, size_t size, uint32_t *ret)
{
	struct iovec local[BATCH], remote[BATCH];
	ssize_t n;

	for (size_t i = 0; i < count; i++) {
		local[i] = (struct iovec){ &ret[i], size };
		remote[i] = (struct iovec){ (void *)addresses[i], size };
	}
	n = process_vm_readv(mem->pid, local, count, remote, count, 0);
	return n > 0 ? n / size : 0;
}

void procmem_read_words(struct procmem *mem, const taddr_t *addresses,
			size_t count, size_t size, uint32_t *ret,
			bool *known_ret)
{
	size_t done = 0;

	memset(ret, 0, count * sizeof(*ret));
	while (done < count) {
		size_t wanted = count - done < BATCH ? count - done : BATCH;
		size_t n = read_batch(mem, addresses + done, wanted, size,
				      ret + done);

		for (size_t i = 0; i < n; i++)
			known_ret[done + i] = true;
		done += n;
		if (n == wanted)
			continue;
		known_ret[done] = memory_read_some(&mem->memory,
						   addresses[done], ret + done,
						   size) == size;
		done++;
	}
}

static int procmem_write(struct memory *memory, taddr_t address,
			 const void *bytes, size_t size)
{
	struct procmem *mem = (struct procmem *)memory;
	struct iovec local = { (void *)bytes, size }, remote;
	ssize_t n;

	address = arch_untagged(address);
	remote = (struct iovec){ (void *)address, size };
	if (may_wait(mem, address, size))
		return -EFAULT;
	n = process_vm_writev(mem->pid, &local, 1, &remote, 1, 0);

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
		.pagemap = -1,
	};
}

void procmem_fini(struct procmem *mem)
{
	if (mem->fd >= 0)
		close(mem->fd);
	if (mem->pagemap >= 0)
		close(mem->pagemap);
	mem->fd = mem->pagemap = -1;
	slow_reader_free(mem->slow);
	free(mem->served);
	mem->slow = NULL;
	mem->served = NULL;
}

/* Where nothing is mapped the kernel says EIO; without a space it reads 0. */
bool procmem_is_gone(const struct procmem *mem)
{
	char byte;

	return mem->fd < 0 || pread(mem->fd, &byte, 1, 0) == 0;
}

void procmem_set_pid(struct procmem *mem, pid_t pid)
{
	mem->pid = pid;
}

bool procmem_is_open(const struct procmem *mem)
{
	return mem->fd >= 0;
}

int procmem_open(struct procmem *mem)
{
	if (procmem_fd(mem) >= 0)
		return 0;
	return errno == ENOENT || errno == ESRCH ? -ERR_GONE : -errno;
}

int procmem_write_code(struct procmem *mem, taddr_t address, const void *bytes,
		       size_t size)
{
	int err = procmem_open(mem);
	ssize_t n;

	if (err)
		return err;
	if (address > INT64_MAX)
		return -EIO;
	n = pwrite(mem->fd, bytes, size, address);
	if (n == (ssize_t)size)
		return 0;
	/* 0: the address space has been torn down already. */
	return n == 0 ? -ERR_GONE : n < 0 ? -errno : -EIO;
}
