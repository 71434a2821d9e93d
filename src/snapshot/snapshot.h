/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SNAPSHOT_H
#define CALLTRAP_SNAPSHOT_H

#include "base/strbuf.h"
#include "memory/block_names.h"
#include "memory/owners.h"
#include "memory/view.h"

/*
 * All that calltrap memory can say of a process: of one that is there, or as a
 * file has kept it. The file's form is told in calltrap.memory(5).
 */
struct snapshot {
	uint64_t wall; /* when it was taken, in ns since 1970 */
	bool has_blocks;
	bool has_graph; /* who alone holds what can be told; has_blocks */
	struct memory_view view; /* its heap is that of leaks, if it has one */
	struct leaks leaks;      /* with ways; has_blocks */
	struct owners owners;    /* of its blocks; has_blocks */
	struct block_names *names; /* … likewise, or NULL */
	uint64_t pointers, roots;  /* in the file's graph */
};

/* touched, copy: as memory_view_read() and leaks_options have them. When it can't
   be taken message_ret (to be freed) says why. */
int snapshot_take(pid_t pid, uint64_t touched, bool copy, struct snapshot *ret,
		  char **message_ret) MUST_CHECK;
void snapshot_fini(struct snapshot *snapshot);

/* Adds all bytes of the file. Of a process that is there still. */
void snapshot_write(const struct snapshot *snapshot, struct strbuf *out);

/* … of which the head is this. */
void snapshot_head_add(struct strbuf *out);

/* Whether these are the first bytes of such a file, of any version. */
bool snapshot_is(const void *bytes, size_t size);

/* NULL, or what is wrong with the file; a constant. Then there is nothing to
   free. */
const char *snapshot_read(const void *bytes, size_t size,
			  struct snapshot *ret) MUST_CHECK;

#endif
