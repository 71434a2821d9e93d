/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86_64/agent/records.h"

#include "sysdeps/x86_64/agent/capture.h"
#include "sysdeps/x86_64/agent/nests.h"
#include "sysdeps/x86_64/agent/returns.h"
#include "sysdeps/x86_64/agent/room.h"
#include "sysdeps/x86_64/agent/threads.h"

static inline uint32_t errno_of(const struct config *config,
				const struct agent_frame *frame)
{
	const char *thread = (const char *)thread_pointer();
	const int64_t offset = config->errno_offset;

	if (!offset || !has_failed(frame))
		return 0;
	return *(const uint32_t *)(thread + offset);
}

static inline bool has_pieces(const struct agent_frame *frame)
{
	return frame->stub->captures[0];
}

/* Of what is replaced they were told with its entry. */
static inline unsigned floats_at_end(const struct agent_frame *frame)
{
	return is_made_by_agent(frame) ? agent_floats_of(frame->stub->failure) :
					 0;
}

/* False: to be written once more. */
static inline bool write_record(const struct config *config,
				const struct agent_thread *thread,
				const struct agent_frame *frame, uint64_t ended)
{
	struct agent_block *block = block_at(config, thread->block);
	uint64_t *ring = block->ring;
	const uint32_t failure = frame->stub->failure;
	const bool is_float = failure & AGENT_FLOAT_RESULT;
	const unsigned arguments = frame->stub->arguments;
	const unsigned floats = floats_at_end(frame);
	/* Its entry was told: there is no call to be lost. */
	const bool begun = frame->stub->failure & AGENT_REPLACES;
	const uint64_t mask = config->ring_words - 1;
	unsigned words = AGENT_RECORD_FIXED + arguments + floats;
	struct pieces pieces;
	uint64_t position;
	unsigned i;

	if (has_pieces(frame)) {
		find_pieces(config, frame, &pieces);
		words += pieces.words;
	}
	if (!has_record_room(config, block, frame, words))
		return true;
	position = begin_record(block, mask, words, begun ? frame->slot : 0);
	if (position == AGENT_NO_RECORD)
		return true;
	ring[(position + AGENT_WORD_ENDED) & mask] = ended;
	ring[(position + AGENT_WORD_RETURN) & mask] = caller_of(frame);
	ring[(position + AGENT_WORD_SLOT) & mask] = frame->slot;
	ring[(position + AGENT_WORD_RESULT) & mask] =
		is_float ? float_result() : frame->result;
	ring[(position + AGENT_WORD_STUB) & mask] =
		agent_record_stub(frame->stub->index,
				  agent_arguments_bits(arguments, floats) |
					  inner_flag(config, thread, frame),
				  is_float ? AGENT_IS_FLOAT :
					     errno_of(config, frame),
				  thread->tid);
	for (i = 0; i < arguments; i++)
		ring[(position + AGENT_RECORD_FIXED + i) & mask] =
			frame->arguments[i];
	for (i = 0; i < floats; i++)
		ring[(position + AGENT_RECORD_FIXED + arguments + i) & mask] =
			frame->floats[i];
	if (has_pieces(frame))
		write_pieces(&pieces, ring,
			     position + AGENT_RECORD_FIXED + arguments + floats,
			     mask);
	ring[(position + AGENT_WORD_BEGAN) & mask] = frame->began;
	return end_record(config, block, position, words);
}

void record(const struct config *config, struct agent_thread *thread,
	    const struct agent_frame *frame, uint64_t ended)
{
	uint32_t own;

	if (thread && !thread->block && config->mode & AGENT_WAITS)
		wait_for_block(config, thread);
	own = thread ? thread->block : 0;
	if (own && config->ring_words)
		while (!write_record(config, thread, frame, ended))
			ended = ticks();
	else if (READ(on))
		common_add(&agent_shared.dropped, 1);
	if (thread && is_made_by_agent(frame))
		end_within(thread, frame);
}

/* The call is about to be made. A handler that comes before the clock is read came
   before the call. */
void agent_begin(struct agent_frame *frame)
{
	const struct config config = { .tid_offset = READ(tid_offset) };
	struct agent_thread *thread = NULL;

	frame->outer = 0;
	keep_floats(frame);
	if (READ(mode) & AGENT_RECORDS && READ(on))
		thread = find_thread(&config);
	do {
		__atomic_store_n(&frame->began, 0, __ATOMIC_RELEASE);
		if (thread)
			begin_within(thread, frame);
		__atomic_store_n(&frame->began, ticks(), __ATOMIC_RELEASE);
	} while (thread && may_begin_anew(thread));
}
