/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SOURCE_INDEX_H
#define CALLTRAP_SOURCE_INDEX_H

#include "recording/block.h"

/* What the end of a recording says of its blocks, in their order. Zeroed: there
   is none. */
struct source_index {
	struct indexed_block {
		uint64_t offset;
		enum block_kind kind;
		uint64_t first_time, last_time;
	} * list;
	size_t count;
	uint64_t end; /* where the index itself begins */
};

/*
 * Of a file: where it stands isn't changed. False: it has no index that could
 * be right, as one that was cut.
 */
bool source_index_read(int fd, struct source_index *ret);
void source_index_fini(struct source_index *index);

#endif
