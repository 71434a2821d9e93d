/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_REACH_H
#define CALLTRAP_REACH_H

#include "memory/freeze.h"
#include "memory/glibc.h"
#include "memory/picture.h"

/*
 * Which blocks a program can still get at, from a picture of its memory. What
 * looks like a pointer is one: so a block may be called reached that isn't,
 * but never the other way round, unless its pointers are hidden.
 */
enum reach {
	REACH_LOST,     /* while it is being found out */
	REACH_DEFINITE, /* nothing points at it … */
	REACH_INDIRECT, /* … only blocks that are lost themselves do */
	REACH_POSSIBLE, /* only pointers into its middle lead there */
	REACH_REACHED,
	REACH_KINDS,
};

struct reach_total {
	uint64_t blocks, bytes;
};

/* Blocks that are lost and point at each other in a circle. */
struct reach_ring {
	uint64_t blocks, bytes;
	taddr_t first; /* the lowest of them */
};

struct reach_result {
	struct reach_total totals[REACH_KINDS];
	uint64_t root_bytes;      /* that were looked through, … */
	uint64_t block_bytes;     /* … and those in blocks */
	uint64_t scan_ns;         /* of processor time */
	struct reach_ring *rings; /* the largest comes first */
	size_t ring_count, ring_room;
	taddr_t *ways; /* of each block that is reached: where the pointer to it
			  lies, 0 for a register; or NULL */
};

struct reach_rule;

struct reach_options {
	bool ways; /* those through the fewest blocks are wanted, too */
	/* Or NULL: what isn't passed over is followed first, and blocks that only
	   other words lead to are .listed. */
	const struct reach_rule *rule;
};

/*
 * Sets the mark of each block in use to an enum reach. frozen: the tasks as
 * they stood then.
 */
void reach_find(const struct picture *picture, const struct mappings *mappings,
		const struct freeze *frozen, struct glibc *glibc,
		const struct reach_options *options, struct reach_result *ret);

/*
 * The same for one question: what could not be got at, were it not for pointers
 * that are passed over. Sets marks to REACHED, POSSIBLE or LOST.
 */
struct reach_rule {
	bool (*passes_over)(void *context, uint64_t pointer, taddr_t where);
	void *context;
};

void reach_mark(const struct picture *picture, const struct mappings *mappings,
		const struct freeze *frozen, struct glibc *glibc,
		const struct reach_rule *rule);
void reach_result_fini(struct reach_result *result);

#endif
