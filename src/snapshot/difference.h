/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DIFFERENCE_H
#define CALLTRAP_DIFFERENCE_H

#include "snapshot/snapshot.h"

/* What became of a block between two snapshots. */
enum block_fate {
	FATE_NEW,
	FATE_GONE,
	FATE_SURVIVED, /* one of the same size is there still */
	FATES,
};

/* Blocks of one fate, one size, one class and one owner. */
struct difference_row {
	enum block_fate fate;
	uint64_t size;     /* of each, as the program may use it */
	const char *class; /* NULL: none; the snapshots' own */
	const char *owner; /* the variable that alone leads to them; likewise */
	uint64_t blocks;
	uint64_t lost; /* so many of them; in the new one, but for those that
			  are gone */
	taddr_t first;
};

struct difference {
	bool same_process; /* else all blocks are gone, and new */
	struct reach_total totals[FATES];
	struct reach_total lost_since; /* of those that survived: reachable in
					  the old one, and lost in the new one */
	struct difference_row *rows;   /* by fate; those that hold most first */
	size_t count;
};

/* Both have blocks. What is returned refers to them. */
void difference_find(const struct snapshot *old_one,
		     const struct snapshot *new_one, struct difference *ret);
void difference_fini(struct difference *difference);

#endif
