/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/xalloc.h"
#include "recording/event_head.h"
#include "recording/events.h"
#include "recording/numbers.h"

void event_block_fini(struct event_block *block)
{
	for (unsigned i = 0; i < COLUMNS; i++)
		strbuf_fini(&block->columns[i]);
	free(block->recent);
	*block = (struct event_block){ 0 };
}

static void put(struct event_block *block, enum column column, uint64_t number)
{
	put_varint(&block->columns[column], number);
}

/* ---- handles ---- */

static size_t slot_of(const struct event_block *block, uint64_t handle)
{
	uint64_t mixed = handle * UINT64_C(0x9e3779b97f4a7c15);
	size_t slot = mixed >> 32 & (block->recent_room - 1);

	while (block->recent[slot].place &&
	       block->recent[slot].handle != handle)
		slot = (slot + 1) & (block->recent_room - 1);
	return slot;
}

static void make_room(struct event_block *block)
{
	struct recent_handle *old = block->recent;
	size_t old_room = block->recent_room;

	if (block->recent_count * 2 < old_room)
		return;
	block->recent_room = old_room ? 2 * old_room : 1024;
	block->recent = xcalloc(block->recent_room, sizeof(*block->recent));
	for (size_t i = 0; i < old_room; i++)
		if (old[i].place)
			block->recent[slot_of(block, old[i].handle)] = old[i];
	free(old);
}

/* How many handles ago it was named; 0 is for a new one. */
static void put_handle(struct event_block *block, uint64_t handle)
{
	struct recent_handle *recent;

	make_room(block);
	recent = &block->recent[slot_of(block, handle)];
	if (recent->place) {
		put(block, COLUMN_HANDLE, block->named - recent->place + 1);
	} else {
		put(block, COLUMN_HANDLE, 0);
		put(block, COLUMN_ADDRESS,
		    zigzag(handle - block->state.address));
		block->state.address = handle;
		block->recent_count++;
	}
	recent->handle = handle;
	recent->place = ++block->named;
}

/* ---- events ---- */

static unsigned head_of(const struct recorded_event *event)
{
	return event->kind | HEAD_FAILED * event->failed |
	       HEAD_UNKEPT * event->unkept | HEAD_FURTHER * event->further |
	       HEAD_HANDLE * !!event->handle | HEAD_OLD * !!event->old |
	       HEAD_SIZE * !!event->size | HEAD_OLD_SIZE * !!event->old_size |
	       HEAD_PRODUCT * (event->count || event->item) |
	       HEAD_CALL * !!event->call;
}

static void put_operands(struct event_block *block,
			 const struct recorded_event *event, unsigned head)
{
	if (head & HEAD_OLD)
		put_handle(block, event->old);
	if (head & HEAD_HANDLE)
		put_handle(block, event->handle);
	if (head & HEAD_PRODUCT) {
		put(block, COLUMN_COUNT, event->count);
		put(block, COLUMN_ITEM, event->item);
	}
	if (head & HEAD_SIZE)
		put(block, COLUMN_SIZE, event->size);
	if (head & HEAD_OLD_SIZE)
		put(block, COLUMN_OLD_SIZE, event->old_size);
}

static void put_call(struct event_block *block,
		     const struct recorded_event *event)
{
	put(block, COLUMN_CALL, zigzag(event->call - block->state.call));
	block->state.call = event->call;
}

static void put_times(struct event_block *block,
		      const struct recorded_event *event)
{
	put(block, COLUMN_TIME, zigzag(event->time - block->state.time));
	block->state.time = event->time;
	if (event->kind == RECORDED_CALL)
		put(block, COLUMN_WAIT, event->wait);
	if (!recorded_has_duration(event->kind))
		return;
	put(block, COLUMN_DURATION, event->duration);
	put(block, COLUMN_CORRECTION,
	    zigzag(event->correction - block->state.correction));
	block->state.correction = event->correction;
}

static void put_note(struct event_block *block,
		     const struct recorded_event *event)
{
	put(block, COLUMN_NOTE, event->note);
	put_bytes(&block->columns[COLUMN_NOTE], event->body, event->body_size);
}

void event_block_add(struct event_block *block,
		     const struct recorded_event *event)
{
	unsigned head = head_of(event);

	if (!block->count) {
		block->first_time = event->time;
		block->last_time = event->time;
	}
	if (event->time > block->last_time)
		block->last_time = event->time;
	if (event->time < block->first_time)
		block->first_time = event->time;
	block->count++;
	put_times(block, event);
	if (event->kind == RECORDED_NOTE) {
		put(block, COLUMN_HEAD, RECORDED_NOTE);
		put_note(block, event);
		return;
	}
	put(block, COLUMN_HEAD, head);
	put(block, COLUMN_THREAD, event->thread);
	put(block, COLUMN_SITE, event->site);
	if (head & HEAD_CALL)
		put_call(block, event);
	put_operands(block, event, head);
}

size_t event_block_size(const struct event_block *block)
{
	size_t size = 0;

	for (unsigned i = 0; i < COLUMNS; i++)
		size += block->columns[i].length;
	return size;
}

void event_block_take(struct event_block *block, struct strbuf *out)
{
	put_varint(out, COLUMNS);
	for (unsigned i = 0; i < COLUMNS; i++) {
		struct strbuf *column = &block->columns[i];

		put_bytes(out, strbuf_text(column), column->length);
		strbuf_clear(column);
	}
	if (block->recent)
		memset(block->recent, 0,
		       block->recent_room * sizeof(*block->recent));
	block->recent_count = 0;
	block->named = 0;
	block->count = 0;
	block->state = (struct event_state){ 0 };
}
