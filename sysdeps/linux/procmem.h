/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PROCMEM_H
#define CALLTRAP_PROCMEM_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/memory.h"

struct served_files;
struct slow_reader;

/*
 * The memory of a process. Reading and writing data needs no stopped task.
 * Code is written through /proc/PID/mem, which passes over the protection of
 * private mappings; process_vm_writev doesn't.
 *
 * No read may wait for a page that somebody else has to bring, for that may be
 * a thread of the process, which waits for us. Through /proc/PID/mem a page of
 * userfaultfd is an error at once (handle_userfault() sleeps only for those
 * who let go of mmap_lock, __access_remote_vm() doesn't), but one of a file is
 * waited for, with that lock held, and not even SIGKILL ends that. So where
 * such file systems are mounted each page is looked at first, and those that
 * aren't there are left to a thread that can wait.
 */
struct procmem {
	struct memory memory;
	pid_t pid;      /* any live task of the address space */
	int fd;         /* /proc/PID/mem, opened when first needed; or -1 */
	unsigned reads; /* until mounts are looked at again */
	struct served_files *served; /* these three where there are some */
	struct slow_reader *slow;
	int pagemap; /* /proc/PID/pagemap, or -1 */
};

void procmem_init(struct procmem *mem, pid_t pid);
void procmem_fini(struct procmem *mem);

/*
 * Another task of the same address space is to be asked from now on: the old
 * one is about to die. An open /proc/PID/mem stays good (it holds the space).
 */
void procmem_set_pid(struct procmem *mem, pid_t pid);

/*
 * The first size bytes (1 to 4) of a word at many addresses, in few system
 * calls; the rest of each is 0. known_ret says which could be read.
 */
void procmem_read_words(struct procmem *mem, const taddr_t *addresses,
			size_t count, size_t size, uint32_t *ret,
			bool *known_ret);

/* From now on no read looks for mounts, which takes memory of ours. */
void procmem_know_mounts(struct procmem *mem);

/* The open /proc/PID/mem, or -1. */
int procmem_fd(struct procmem *mem);

bool procmem_is_open(const struct procmem *mem);

/* Opens it: 0, -ERR_GONE, or why it can't be. */
int procmem_open(struct procmem *mem) MUST_CHECK;

/*
 * Whether the address space that was opened is there no more: all who had it
 * have ended, or run another program. True when it was never opened.
 */
bool procmem_is_gone(const struct procmem *mem);

/*
 * Memory of no file that is there, of a process that stands still, in a bit more
 * than half the time. Of what isn't there it may wait for who serves page faults
 * (userfaultfd), and so for ever. Returns how many bytes could be read.
 */
size_t procmem_read_present(struct procmem *mem, taddr_t address, void *ret,
			    size_t size);

/*
 * Reads what procmem_write_code() would change: that of the address space that
 * was opened, whatever program the process runs by now. Returns how many bytes
 * could be read.
 */
size_t procmem_read_code(struct procmem *mem, taddr_t address, void *ret,
			 size_t size);

/*
 * Writes code. One byte is written at once, as threads that run over it see
 * it: either the old or the new one. -EIO when the mapping is gone or can't
 * be written (shared, hugetlb).
 */
int procmem_write_code(struct procmem *mem, taddr_t address, const void *bytes,
		       size_t size) MUST_CHECK;

#endif
