/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LEAKS_H
#define CALLTRAP_LEAKS_H

#include "memory/reach.h"
#include "memory/view.h"

/* Blocks of one verdict, one size, and one kind of contents. */
struct leak_group {
	enum reach kind;
	uint64_t size; /* of each, as the program may use it */
	uint64_t blocks;
	char *name;    /* of the class whose objects they are; or NULL */
	char *text;    /* that the first of them begins with; or NULL */
	taddr_t first; /* of them */
};

struct kept_graph;
struct object_links;

struct leaks {
	pid_t pid;
	char name[PROCFS_COMM_ROOM];
	struct glibc glibc; /* its blocks are marked */
	struct mappings mappings;
	struct picture picture;
	struct freeze freeze; /* ended; the registers stay */
	struct reach_result reach;
	struct leak_group *groups; /* of the lost; the largest come first */
	size_t group_count;
	uint64_t pause_ns;
	bool copied;          /* it ran on while it was read … */
	const char *uncopied; /* … or why not, if that was wanted; else NULL */
	bool swapped; /* of an old file: what is swapped out counts as resident */
	bool zombie;                /* of the copy, something is left */
	struct object_links *links; /* what doesn't hold objects of interpreters,
				       as these are there; or NULL */
	struct kept_graph *kept;    /* of a file: its pointers, as there is no
				    picture; or NULL */
};

struct block_names;

struct leaks_options {
	bool ways;     /* who holds what isn't lost, too (holders.h) */
	bool objects;  /* … which interpreters' objects may be, too */
	bool listed;   /* blocks that a collector will take are marked */
	bool copy;     /* the process is copied, if that can be, and runs on */
	uint64_t most; /* no more bytes are read than these, … */
	uint64_t most_stopped; /* … while it has to wait for that; 0: any */
};

/*
 * Takes a picture of a process, all tasks of which are stopped meanwhile, and
 * finds out what is lost. When it can't, message_ret (to be freed) says why.
 */
int leaks_find(pid_t pid, const struct leaks_options *options,
	       struct leaks *ret, char **message_ret) MUST_CHECK;
void leaks_fini(struct leaks *leaks);

/* Where the pages of a block are. hint: 0 at first, for blocks by address. */
struct page_sums leaks_pages(const struct leaks *leaks,
			     const struct block *block, size_t *hint);

/* Whether that is known: files of older versions don't have it. */
bool leaks_pages_known(const struct leaks *leaks);

/* … and which of them are huge: kernels before Linux 6.7 don't say that. */
bool leaks_huge_known(const struct leaks *leaks);

/* Makes its groups; leaks_find() has. */
void leaks_group(struct leaks *leaks, struct block_names *names);

#endif
