/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_EVENTS_H
#define CALLTRAP_EVENTS_H

#include "base/cursor.h"
#include "recording/recorded.h"

/* Events of one block, in columns. */

enum column {
	COLUMN_HEAD,
	COLUMN_TIME,
	COLUMN_WAIT,
	COLUMN_DURATION,
	COLUMN_CORRECTION,
	COLUMN_THREAD,
	COLUMN_SITE,
	COLUMN_CALL,
	COLUMN_HANDLE,
	COLUMN_ADDRESS,
	COLUMN_SIZE,
	COLUMN_OLD_SIZE,
	COLUMN_COUNT,
	COLUMN_ITEM,
	COLUMN_NOTE,
	COLUMNS,
};

/* Numbers that others are counted from; all 0 where a block begins. */
struct event_state {
	uint64_t time;
	uint64_t correction;
	uint64_t call;
	uint64_t address;
};

/* Where handles were named last: addresses and places in the block's row of
   all that were. */
struct recent_handle {
	uint64_t handle;
	uint32_t place; /* from 1 on */
};

/* A block being filled. Zeroed: empty. */
struct event_block {
	struct strbuf columns[COLUMNS];
	struct event_state state;
	uint32_t count;
	uint64_t first_time, last_time;
	struct recent_handle *recent; /* a table */
	size_t recent_room, recent_count;
	uint32_t named; /* how many handles were */
};

void event_block_fini(struct event_block *block);
void event_block_add(struct event_block *block,
		     const struct recorded_event *event);

/* The bytes that it has so far, about. */
size_t event_block_size(const struct event_block *block);

/* Adds what the block is, and empties it. */
void event_block_take(struct event_block *block, struct strbuf *out);

/* A block being read. */
struct event_reader {
	struct cursor columns[COLUMNS];
	struct event_state state;
	uint32_t left;
	bool bad;        /* so is one of the columns */
	uint64_t *named; /* handles in the order in which they were */
	size_t named_count, named_room;
};

/* bytes: the block's, good as long as it is read. False: they are damaged. */
bool event_reader_begin(struct event_reader *reader, const void *bytes,
			size_t size, uint32_t count);
void event_reader_fini(struct event_reader *reader);

/* 1, 0 at the end, or -EBADMSG. */
int event_reader_next(struct event_reader *reader, struct recorded_event *ret);

#endif
