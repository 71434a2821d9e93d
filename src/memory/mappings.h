/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_MAPPINGS_H
#define CALLTRAP_MAPPINGS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/memory.h"

/* What a mapping of a process is for. */
enum mapping_kind {
	MAPPING_PROGRAM_CODE, /* text and constants of the program's file */
	MAPPING_PROGRAM_DATA, /* .data and .bss */
	MAPPING_LIBRARY_CODE,
	MAPPING_LIBRARY_DATA,
	MAPPING_HEAP,      /* what brk() enlarges */
	MAPPING_ARENA,     /* what the C library's malloc has mapped to share
			      out */
	MAPPING_STACK,     /* the first thread's, and the others' */
	MAPPING_CODE,      /* code of no file */
	MAPPING_SHARED,    /* memory shared with others, of no real file */
	MAPPING_FILE,      /* any other file */
	MAPPING_ANONYMOUS, /* anything else */
	MAPPING_KERNEL,    /* [vdso] and the like */
	MAPPING_OWN,       /* what calltrap has put there, now or before */
	MAPPING_KINDS,
};

struct mapping {
	taddr_t start, end;
	enum mapping_kind kind;
	bool readable, writable, executable, shared;
	uint64_t inode;
	uint64_t offset; /* in the file */
	char *path;      /* "" when it has none; mappings share it */
	uint64_t resident, proportional, swapped, anonymous, huge;
};

/* All of a process at about one time, by address. */
struct mappings {
	struct mapping *list;
	size_t count, room;
	pid_t pid;
	char *program; /* its path, or NULL */
	uint64_t tags; /* bits of pointers that lead to the same place with any */
};

/*
 * -ERR_GONE when the process has ended, -EACCES when it is somebody else's.
 * figures: with what is resident, which makes the kernel walk the page tables;
 * without, all of these are 0.
 */
int mappings_read(pid_t pid, bool figures, struct mappings *ret) MUST_CHECK;
void mappings_fini(struct mappings *mappings);

/* What each of them is for, as that has been told in them; the memory of modules
   says where they end. */
void mappings_find_kinds(struct mappings *mappings, struct memory *memory);

/*
 * Whether what lies there is the program's: the kernel has no pointers into its
 * blocks, and those that the agent has noted hold none.
 */
static inline bool mapping_is_programs(const struct mapping *mapping)
{
	return mapping->kind != MAPPING_KERNEL && mapping->kind != MAPPING_OWN;
}

/* The mapping that holds an address, or NULL. */
struct mapping *mappings_find(const struct mappings *mappings, taddr_t address);

/*
 * Whether it and the one behind it are memory of no file, side by side: they may
 * have been one, which mprotect() or madvise() has divided.
 */
bool mappings_goes_on(const struct mappings *mappings, size_t index);

/* Whether they are of the same places and files, with the same rights. */
bool mappings_are_equal(const struct mappings *one,
			const struct mappings *other);

/* A task's stack pointer lies there. */
void mappings_mark_stack(struct mappings *mappings, taddr_t sp);

#endif
