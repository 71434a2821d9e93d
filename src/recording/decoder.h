/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DECODER_H
#define CALLTRAP_DECODER_H

#include "recording/recorded.h"
#include "recording/source_blocks.h"

/*
 * The blocks of a recording in their order: read, expanded and decoded by a
 * thread of its own, ahead of who plays them, but only by so much as fits into
 * a few slots.
 */
struct decoder;

/* A block of the dictionary; or some of a block's events; or the end. */
struct decoded {
	enum block_kind kind; /* BLOCK_INDEX: the end, after .events */
	uint64_t at;          /* where the block is */
	/* What a dictionary's entries are; or what notes of events point to:
	   with the last ones of a block. */
	struct strbuf text;
	uint32_t entries;
	const struct recorded_event *events;
	size_t count;
	/* The end: as of struct playback_end. */
	int error;
	const char *problem;
};

/* Events of these times are wanted; others may be left out. Monotonic. */
struct decoder_part {
	uint64_t since, until;
};

/* The source is the decoder's until that is freed. */
struct decoder *decoder_new(struct source_blocks *source,
			    const struct decoder_part *part) MUST_CHECK;
void decoder_free(struct decoder *decoder);

/* Good until the next is asked for. None comes after the end. */
const struct decoded *decoder_next(struct decoder *decoder);

#endif
