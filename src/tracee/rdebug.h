/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_RDEBUG_H
#define CALLTRAP_RDEBUG_H

#include <stdbool.h>

#include "base/types.h"

struct space;

/*
 * What the dynamic linker keeps for debuggers, as it lies in the process
 * (<link.h>, and glibc's elf/link.h for the namespaces). All of it may be
 * garbage.
 */

/* struct r_debug of <link.h>, as an int and pointers lie in the process. */
struct rendezvous {
	uint64_t map;
	uint64_t breakpoint;
	uint64_t next; /* of the next namespace; only from version 2 on */
	bool consistent;
};

/* struct link_map, its public part. */
struct link_entry {
	uint64_t bias;
	uint64_t name;
	uint64_t dynamic;
	uint64_t next;
};

/* Consecutive words of the process, at most RDEBUG_WORDS. */
#define RDEBUG_WORDS 6
int rdebug_read_words(struct space *space, taddr_t address, uint64_t *words,
		      size_t count) MUST_CHECK;
int rdebug_read(struct space *space, taddr_t address,
		struct rendezvous *ret) MUST_CHECK;

/* Finds out whether a list goes in a ring (Brent's algorithm). */
struct ring_check {
	taddr_t mark;
	unsigned steps;
	unsigned limit;
};

/* All entries of all namespaces, one after the other. */
struct rdebug_walk {
	struct space *space;
	struct rendezvous current; /* namespace */
	unsigned link_namespace;   /* its number */
	taddr_t map;               /* the entry that comes next; or 0 */
	unsigned count;            /* of entries so far */
	struct ring_check entries;
	struct ring_check namespaces;
};

void rdebug_walk_init(struct rdebug_walk *walk, struct space *space,
		      const struct rendezvous *first);

/*
 * Returns 1 and an entry, 0 at the end, -EFAULT where the list leads into
 * nowhere, -ELOOP when it has no end. What was seen before may come again a
 * few times.
 */
int rdebug_walk_next(struct rdebug_walk *walk,
		     struct link_entry *ret) MUST_CHECK;

#endif
