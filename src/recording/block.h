/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_BLOCK_H
#define CALLTRAP_BLOCK_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "base/types.h"

/*
 * What a recording consists of: a head, and blocks, each compressed and checked
 * by itself. The form of each byte is told in calltrap.recording(5).
 */

enum block_kind {
	BLOCK_DICTIONARY = 'D',
	BLOCK_EVENTS = 'E',
	BLOCK_INDEX = 'I',
	BLOCK_SNAPSHOT = 'S', /* of calltrap.memory(5) alone */
};

struct block_head {
	enum block_kind kind;
	bool is_compressed;
	uint32_t sequence;
	uint32_t stored_size;
	uint32_t size; /* when it is no more compressed */
	uint32_t count;
	uint64_t first_time, last_time; /* EVENTS: monotonic */
	uint32_t checksum;              /* of what is stored */
};

#define BLOCK_HEAD_SIZE  52
#define BLOCK_SIZE_MAX   (16u << 20)
#define BLOCK_EVENTS_MAX (1u << 17)

/* What is said of a file as a whole. */
struct recording_head {
	uint64_t start; /* monotonic: when recording began */
	uint64_t wall;  /* … and what the clock said, in ns since 1970 */
};

#define RECORDING_HEAD_SIZE 40
#define RECORDING_TAIL_SIZE 24

void recording_head_add(struct strbuf *out, const struct recording_head *head);

/* NULL, or why it can't be read. */
const char *recording_head_parse(const uint8_t bytes[RECORDING_HEAD_SIZE],
				 struct recording_head *ret);

/* Whether these are the first bytes of a recording, of any version. */
bool recording_is(const void *bytes, size_t size);

/* Adds head and bytes of a block, whose kind, sequence, count and times are
   filled in. */
void block_add(struct strbuf *out, const struct block_head *head,
	       const void *bytes, size_t size);

/* NULL, or what is wrong with it. */
const char *block_head_parse(const uint8_t bytes[BLOCK_HEAD_SIZE],
			     struct block_head *ret);

/* Checks what is stored, and adds it to *out as it was. NULL, or what is
   wrong. */
const char *block_expand(const struct block_head *head, const void *stored,
			 struct strbuf *out);

/* The last bytes of a file that was finished: where its index is. */
void recording_tail_add(struct strbuf *out, uint64_t index);

/* False: they are none. */
bool recording_tail_parse(const uint8_t bytes[RECORDING_TAIL_SIZE],
			  uint64_t *index_ret);

#endif
