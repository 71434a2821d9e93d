/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_MEMORY_H
#define CALLTRAP_MEMORY_H

#include "base/types.h"

/*
 * Memory that is read and written by address, wherever it is: a traced
 * process, or a buffer of a test. Embedded as the first member of what
 * implements it.
 */
struct memory {
	const struct memory_ops *ops;
};

struct memory_ops {
	/*
	 * Reads up to size bytes and returns how many there were before the
	 * first unreadable one; 0 when there was none.
	 */
	size_t (*read)(struct memory *memory, taddr_t address, void *ret,
		       size_t size);

	/* Writes data (not code): all of it, or -EFAULT, or -ERR_GONE. NULL:
	   nothing can be written. */
	int (*write)(struct memory *memory, taddr_t address, const void *bytes,
		     size_t size);
};

/*
 * Memory of which a few bytes are as they were at an earlier time. Nothing is
 * copied: both must live as long as this.
 */
struct memory_before {
	struct memory memory;
	struct memory *now;
	taddr_t address;
	const uint8_t *bytes;
	size_t size;
};

void memory_before_init(struct memory_before *before, struct memory *now,
			taddr_t address, const uint8_t *bytes, size_t size);

/* Where nothing can be read. */
struct memory *memory_unreachable(void);

size_t memory_read_some(struct memory *memory, taddr_t address, void *ret,
			size_t size);

/* All of it, or -EFAULT. */
int memory_read(struct memory *memory, taddr_t address, void *ret,
		size_t size) MUST_CHECK;
int memory_write(struct memory *memory, taddr_t address, const void *bytes,
		 size_t size) MUST_CHECK;

/* A little-endian unsigned number of word_size (4 or 8) bytes. */
int memory_read_word(struct memory *memory, taddr_t address, unsigned word_size,
		     uint64_t *ret) MUST_CHECK;

/* Of 8 bytes; 0 where none can be read, or where it would not be aligned. */
uint64_t memory_word_at(struct memory *memory, taddr_t address);

/*
 * A string of at most room - 1 bytes, always NUL-terminated in ret. Returns
 * its length, or -EFAULT when not even its first byte can be read. A string
 * that goes on (or can't be read on) behind the room is cut.
 */
long memory_read_string(struct memory *memory, taddr_t address, char *ret,
			size_t room) MUST_CHECK;

#endif
