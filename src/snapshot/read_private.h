/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SNAPSHOT_READ_PRIVATE_H
#define CALLTRAP_SNAPSHOT_READ_PRIVATE_H

#include "base/cursor.h"
#include "memory/graph.h"
#include "memory/kept_graph.h"
#include "snapshot/format.h"
#include "snapshot/kept_names.h"
#include "snapshot/snapshot.h"

/* A file that is being read: nothing in it is believed. */
struct snapshot_reader {
	struct snapshot *snapshot;
	struct kept_names *kept;
	unsigned version;         /* of the file */
	uint64_t flags;           /* of the process; until then, ~0 */
	enum snapshot_part part;  /* that is being read; they come in order */
	uint64_t last;            /* what the next entry is counted from */
	uint64_t from;            /* the block of which pointers are read */
	struct kept_graph *graph; /* the leaks'; NULL: files of that version
				     don't have all of it */
	size_t owner_room, kept_room, text_room, way_room, of_room;
	bool ended; /* by what the last block says */
};

/* One entry of a part; false when it makes no sense. The number of the part is
   one that there is. */
bool snapshot_read_entry(struct snapshot_reader *reader,
			 enum snapshot_part part, struct cursor *in);

#endif
