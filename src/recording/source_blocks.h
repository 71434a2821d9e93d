/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SOURCE_BLOCKS_H
#define CALLTRAP_SOURCE_BLOCKS_H

#include "recording/source_index.h"

/* A recording being read, block by block. Zeroed: not open. */
struct source_blocks {
	int fd;
	bool can_seek;
	struct recording_head head;
	uint64_t offset;   /* of the next block */
	uint64_t at;       /* of the last one */
	uint32_t sequence; /* that the next block must have */
	struct strbuf stored;
	struct source_index index; /* where it is used */
	const char *problem;       /* what is wrong at .at, or NULL */
};

/*
 * fd becomes the source's. -EBADMSG: it is no recording that can be read;
 * .problem says why. Another negative errno: of reading.
 */
int source_blocks_open(struct source_blocks *source, int fd) MUST_CHECK;
void source_blocks_fini(struct source_blocks *source);

/*
 * The head of the next block: 1; 0 when the recording ends there as it should,
 * -ENODATA when it ends without an index, maybe in the midst of a block,
 * -EBADMSG when it is damaged.
 */
int source_blocks_next(struct source_blocks *source,
		       struct block_head *ret) MUST_CHECK;

/* After that one of these: adds what the block holds to *out, 0 or a negative
   errno as above; or passes it by. */
int source_blocks_expand(struct source_blocks *source,
			 const struct block_head *head,
			 struct strbuf *out) MUST_CHECK;
int source_blocks_pass(struct source_blocks *source,
		       const struct block_head *head) MUST_CHECK;

/*
 * Before that: passes by what the index says isn't wanted, so that not even the
 * heads are read, and a large file's early part stays on its disk. Does nothing
 * where there is no index.
 */
void source_blocks_use_index(struct source_blocks *source);
int source_blocks_skip(struct source_blocks *source,
		       bool (*wanted)(const void *context,
				      const struct indexed_block *block),
		       const void *context) MUST_CHECK;

/* Goes back to the first block; of a file only. */
int source_blocks_again(struct source_blocks *source) MUST_CHECK;

#endif
