/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "recording/event_head.h"
#include "recording/events.h"
#include "recording/numbers.h"

bool event_reader_begin(struct event_reader *reader, const void *bytes,
			size_t size, uint32_t count)
{
	struct cursor in = cursor_of(bytes, size);
	uint64_t columns = take_varint(&in);

	reader->state = (struct event_state){ 0 };
	reader->left = count;
	reader->bad = false;
	reader->named_count = 0;
	if (columns < COLUMNS)
		return false;
	for (unsigned i = 0; i < COLUMNS; i++)
		reader->columns[i] = take_part(&in);
	return !in.bad && count <= reader->columns[COLUMN_HEAD].size;
}

void event_reader_fini(struct event_reader *reader)
{
	free(reader->named);
	*reader = (struct event_reader){ 0 };
}

static uint64_t take(struct event_reader *reader, enum column column)
{
	uint64_t number = take_varint(&reader->columns[column]);

	reader->bad |= reader->columns[column].bad;
	return number;
}

static uint64_t take_difference(struct event_reader *reader, enum column column,
				uint64_t *last)
{
	*last += unzigzag(take(reader, column));
	return *last;
}

static uint64_t take_handle(struct event_reader *reader)
{
	uint64_t ago = take(reader, COLUMN_HANDLE), handle;

	if (ago > reader->named_count) {
		reader->bad = true;
		return 0;
	}
	handle = ago ? reader->named[reader->named_count - ago] :
		       take_difference(reader, COLUMN_ADDRESS,
				       &reader->state.address);
	reader->named = xgrow(reader->named, reader->named_count,
			      &reader->named_room, sizeof(*reader->named));
	reader->named[reader->named_count++] = handle;
	return handle;
}

static void take_times(struct event_reader *reader, struct recorded_event *ret)
{
	struct event_state *state = &reader->state;

	ret->time = take_difference(reader, COLUMN_TIME, &state->time);
	if (ret->kind == RECORDED_CALL)
		ret->wait = take(reader, COLUMN_WAIT);
	if (!recorded_has_duration(ret->kind))
		return;
	ret->duration = take(reader, COLUMN_DURATION);
	ret->correction =
		take_difference(reader, COLUMN_CORRECTION, &state->correction);
}

static void take_operands(struct event_reader *reader, unsigned head,
			  struct recorded_event *ret)
{
	if (head & HEAD_CALL)
		ret->call = take_difference(reader, COLUMN_CALL,
					    &reader->state.call);
	if (head & HEAD_OLD)
		ret->old = take_handle(reader);
	if (head & HEAD_HANDLE)
		ret->handle = take_handle(reader);
	if (head & HEAD_PRODUCT) {
		ret->count = take(reader, COLUMN_COUNT);
		ret->item = take(reader, COLUMN_ITEM);
	}
	if (head & HEAD_SIZE)
		ret->size = take(reader, COLUMN_SIZE);
	if (head & HEAD_OLD_SIZE)
		ret->old_size = take(reader, COLUMN_OLD_SIZE);
}

static void take_note(struct event_reader *reader, struct recorded_event *ret)
{
	struct cursor body;

	ret->note = take(reader, COLUMN_NOTE);
	body = take_part(&reader->columns[COLUMN_NOTE]);
	reader->bad |= body.bad;
	ret->body = body.bytes;
	ret->body_size = body.size;
}

/* One by one: for the whole of it compilers take an instruction for long fills,
   which is slow to begin. */
static void clear(struct recorded_event *event)
{
	event->time = event->wait = event->duration = 0;
	event->correction = 0;
	event->thread = event->site = 0;
	event->call = event->handle = event->old = 0;
	event->size = event->old_size = 0;
	event->count = event->item = 0;
	event->note = 0;
	event->body = NULL;
	event->body_size = 0;
}

int event_reader_next(struct event_reader *reader, struct recorded_event *ret)
{
	uint64_t head;

	if (!reader->left)
		return 0;
	reader->left--;
	head = take(reader, COLUMN_HEAD);
	clear(ret);
	ret->kind = head & HEAD_KIND;
	ret->failed = head & HEAD_FAILED;
	ret->unkept = head & HEAD_UNKEPT;
	ret->further = head & HEAD_FURTHER;
	if (head > HEAD_ALL || ret->kind >= RECORDED_KINDS)
		return -EBADMSG;
	take_times(reader, ret);
	if (ret->kind == RECORDED_NOTE) {
		take_note(reader, ret);
	} else {
		ret->thread = take(reader, COLUMN_THREAD);
		ret->site = take(reader, COLUMN_SITE);
		take_operands(reader, head, ret);
	}
	return reader->bad ? -EBADMSG : 1;
}
