/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/decoder.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/thread.h"
#include "base/xalloc.h"
#include "recording/events.h"

#define SLOTS       16
#define SLOT_EVENTS 512
/* Blocks may be large, and have few events. */
#define BYTES_MAX BLOCK_SIZE_MAX

struct slot {
	struct decoded decoded;
	struct recorded_event events[SLOT_EVENTS];
};

struct decoder {
	/* Who decodes: */
	struct source_blocks *source;
	struct decoder_part part;
	bool is_past;     /* a block that begins after the part was wanted */
	bool is_in_block; /* events of .text are still to be taken */
	struct strbuf text;
	struct event_reader reader;
	/* Who plays: */
	bool is_playing;
	bool has_thread;
	pthread_t thread;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under the lock. Slots were used so often, in turns: */
	uint64_t filled, given_back;
	size_t bytes; /* of their texts */
	bool stopping;

	struct slot slots[SLOTS];
};

/* ---- who decodes ---- */

static bool is_wanted(const struct decoder *decoder, enum block_kind kind,
		      uint64_t first_time, uint64_t last_time)
{
	return kind == BLOCK_DICTIONARY ||
	       (last_time >= decoder->part.since &&
		(first_time <= decoder->part.until || !decoder->is_past));
}

static bool is_wanted_block(const void *decoder,
			    const struct indexed_block *block)
{
	return is_wanted(decoder, block->kind, block->first_time,
			 block->last_time);
}

/* Of the next block that is wanted; as source_blocks_next(). */
static int next_head(struct decoder *decoder, struct block_head *ret)
{
	struct source_blocks *source = decoder->source;
	int err;

	do {
		err = source_blocks_skip(source, is_wanted_block, decoder);
		if (!err)
			err = source_blocks_next(source, ret);
		if (err <= 0 || is_wanted(decoder, ret->kind, ret->first_time,
					  ret->last_time))
			return err;
		err = source_blocks_pass(source, ret);
	} while (!err);
	return err;
}

static int begin_events(struct decoder *decoder, const struct block_head *head)
{
	int err = source_blocks_expand(decoder->source, head, &decoder->text);

	if (err)
		return err;
	if (!event_reader_begin(&decoder->reader, strbuf_text(&decoder->text),
				decoder->text.length, head->count))
		return -EBADMSG;
	if (head->first_time > decoder->part.until)
		decoder->is_past = true;
	decoder->is_in_block = true;
	return 0;
}

static void end(const struct decoder *decoder, struct decoded *ret, int error)
{
	ret->kind = BLOCK_INDEX;
	ret->error = error;
	ret->problem = decoder->source->problem;
	if (error == -EBADMSG && !ret->problem)
		ret->problem = "a block makes no sense";
}

static void begin_block(struct decoder *decoder, struct decoded *ret)
{
	struct block_head head;
	int err = next_head(decoder, &head);

	if (err <= 0) {
		end(decoder, ret, err);
		return;
	}
	ret->kind = head.kind;
	ret->entries = head.count;
	err = head.kind == BLOCK_EVENTS ?
		      begin_events(decoder, &head) :
		      source_blocks_expand(decoder->source, &head, &ret->text);
	if (err)
		end(decoder, ret, err);
}

static void take_events(struct decoder *decoder, struct slot *slot)
{
	struct decoded *ret = &slot->decoded;
	int more = 1;

	for (; ret->count < SLOT_EVENTS; ret->count++) {
		more = event_reader_next(&decoder->reader,
					 &slot->events[ret->count]);
		if (more <= 0)
			break;
	}
	if (more > 0)
		return;
	ret->text = decoder->text;
	decoder->text = (struct strbuf){ 0 };
	decoder->is_in_block = false;
	if (more)
		end(decoder, ret, more);
}

static void decode(struct decoder *decoder, struct slot *slot)
{
	struct decoded *ret = &slot->decoded;

	*ret = (struct decoded){ .kind = BLOCK_EVENTS, .events = slot->events };
	if (!decoder->is_in_block)
		begin_block(decoder, ret);
	ret->at = decoder->source->at;
	if (decoder->is_in_block)
		take_events(decoder, slot);
}

/* Whether there is more to come. */
static bool fill(struct decoder *decoder)
{
	struct slot *slot = &decoder->slots[decoder->filled % SLOTS];

	decode(decoder, slot);
	pthread_mutex_lock(&decoder->lock);
	decoder->filled++;
	decoder->bytes += slot->decoded.text.length;
	pthread_cond_signal(&decoder->changed);
	pthread_mutex_unlock(&decoder->lock);
	return slot->decoded.kind != BLOCK_INDEX;
}

/* Under the lock. */
static bool is_half_empty(const struct decoder *decoder)
{
	return decoder->filled - decoder->given_back <= SLOTS / 2;
}

static bool is_full(const struct decoder *decoder)
{
	return decoder->filled - decoder->given_back == SLOTS ||
	       decoder->bytes > BYTES_MAX;
}

/* Who has to wait does so until there is room for many. False: nothing is needed
   any more. */
static bool wait_for_room(struct decoder *decoder)
{
	bool goes_on;

	pthread_mutex_lock(&decoder->lock);
	if (is_full(decoder))
		while (!decoder->stopping &&
		       (is_full(decoder) || !is_half_empty(decoder)))
			pthread_cond_wait(&decoder->changed, &decoder->lock);
	goes_on = !decoder->stopping;
	pthread_mutex_unlock(&decoder->lock);
	return goes_on;
}

static void *decode_all(void *context)
{
	struct decoder *decoder = context;

	while (wait_for_room(decoder) && fill(decoder))
		;
	return NULL;
}

/* ---- who plays ---- */

/* A thread that waits for a pipe could not be told to stop. */
struct decoder *decoder_new(struct source_blocks *source,
			    const struct decoder_part *part)
{
	struct decoder *decoder = xcalloc(1, sizeof(*decoder));

	decoder->source = source;
	decoder->part = *part;
	pthread_mutex_init(&decoder->lock, NULL);
	pthread_cond_init(&decoder->changed, NULL);
	decoder->has_thread =
		source->can_seek &&
		!thread_begin(&decoder->thread, 0, decode_all, decoder);
	return decoder;
}

void decoder_free(struct decoder *decoder)
{
	pthread_mutex_lock(&decoder->lock);
	decoder->stopping = true;
	pthread_cond_signal(&decoder->changed);
	pthread_mutex_unlock(&decoder->lock);
	if (decoder->has_thread)
		pthread_join(decoder->thread, NULL);
	for (; decoder->given_back < decoder->filled; decoder->given_back++)
		strbuf_fini(&decoder->slots[decoder->given_back % SLOTS]
				     .decoded.text);
	strbuf_fini(&decoder->text);
	event_reader_fini(&decoder->reader);
	pthread_mutex_destroy(&decoder->lock);
	pthread_cond_destroy(&decoder->changed);
	free(decoder);
}

/* The one that is played. */
static struct decoded *current(struct decoder *decoder)
{
	return &decoder->slots[decoder->given_back % SLOTS].decoded;
}

static void give_back(struct decoder *decoder)
{
	const size_t bytes = current(decoder)->text.length;

	strbuf_fini(&current(decoder)->text);
	pthread_mutex_lock(&decoder->lock);
	decoder->bytes -= bytes;
	decoder->given_back++;
	if (is_half_empty(decoder))
		pthread_cond_signal(&decoder->changed);
	pthread_mutex_unlock(&decoder->lock);
}

const struct decoded *decoder_next(struct decoder *decoder)
{
	if (decoder->is_playing)
		give_back(decoder);
	decoder->is_playing = true;
	if (!decoder->has_thread)
		(void)fill(decoder);
	pthread_mutex_lock(&decoder->lock);
	while (decoder->filled == decoder->given_back)
		pthread_cond_wait(&decoder->changed, &decoder->lock);
	pthread_mutex_unlock(&decoder->lock);
	return current(decoder);
}
