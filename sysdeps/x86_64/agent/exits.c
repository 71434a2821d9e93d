/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86_64/agent/exits.h"

#include "sysdeps/x86_64/agent/entries.h"
#include "sysdeps/x86_64/agent/notes.h"
#include "sysdeps/x86_64/agent/returns.h"
#include "sysdeps/x86_64/agent/room.h"
#include "sysdeps/x86_64/agent/stamps.h"
#include "sysdeps/x86_64/agent/threads.h"

/*
 * Reserved by one instruction, as by own_add(): a handler that comes before it writes
 * records of its own in between.
 */
static inline bool own_follow(struct agent_block *block, uint64_t position,
			      unsigned words)
{
	return change_own_word(&block->head, position, position + words);
}

/* False: something else was written since its entry, or it was given up. */
static inline bool write_behind(const struct config *config,
				struct agent_block *block,
				const struct agent_thread *thread,
				const struct agent_frame *frame, uint64_t now)
{
	uint64_t *ring = block->ring;
	const uint64_t mask = config->ring_words - 1;
	const uint64_t position = end_of_entry(thread, frame->entered);

	if (!frame->entered || is_forked() ||
	    !own_follow(block, position, AGENT_WATCH_SHORT))
		return false;
	ring[(position + AGENT_WATCH_TIME) & mask] = now;
	ring[(position + AGENT_WATCH_RESULT) & mask] = frame->result;
	ring[(position + AGENT_WATCH_STUB) & mask] =
		agent_record_stub(frame->stub->index, 0, AGENT_WATCH_FOLLOWS,
				  thread->tid);
	return end_record(config, block, position, AGENT_WATCH_SHORT);
}

/* False: to be written once more. */
static bool write_return(const struct config *config, struct agent_block *block,
			 uint32_t tid, const struct agent_frame *frame,
			 uint64_t now, enum agent_watch_kind kind, bool stored)
{
	uint64_t *ring = block->ring;
	const uint64_t mask = config->ring_words - 1;
	const unsigned words = stored ? AGENT_WATCH_STORED_WORDS :
					AGENT_WATCH_RETURN_WORDS;
	uint64_t position, behind;

	if (is_forked())
		return true;
	position = own_add(&block->head, words);
	behind = position + AGENT_WATCH_FIXED;

	ring[(position + AGENT_WATCH_TIME) & mask] = now;
	ring[(position + AGENT_WATCH_SLOT) & mask] = frame->slot;
	ring[(position + AGENT_WATCH_STUB) & mask] =
		agent_record_stub(frame->stub->index, 0, kind, tid);
	ring[(position + AGENT_WATCH_VALUE) & mask] = frame->result;
	ring[behind & mask] = caller_of(frame);
	if (stored) {
		ring[(behind + 1) & mask] = frame->arguments[0];
		ring[(behind + 2) & mask] =
			*(const uint64_t *)frame->arguments[0];
	}
	return end_record(config, block, position, words);
}

void note_return(const struct config *config, const struct agent_frame *frame,
		 enum agent_watch_kind kind)
{
	const struct agent_thread *thread = find_thread(config);
	const bool stored = frame->stub->failure & AGENT_STORES &&
			    !(uint32_t)frame->result;
	struct agent_block *block;
	uint64_t now;

	if (!thread || !thread->block || !config->ring_words ||
	    is_too_old(config, frame))
		return;
	block = block_at(config, thread->block);
	now = stamp_of_return(block, thread, frame->began);
	if (!has_words(config, block, AGENT_WATCH_STORED_WORDS))
		own_add(&block->dropped, 1);
	else if (stored || kind != AGENT_WATCH_RETURN ||
		 !write_behind(config, block, thread, frame, now))
		while (!write_return(config, block, thread->tid, frame, now,
				     kind, stored))
			now = exact_stamp(block, thread, sole_now());
	revoke_others(thread);
}

void agent_returned(const struct agent_frame *frame)
{
	struct config config;

	if (!read_config(&config))
		return;
	if (config.mode & AGENT_WATCHES)
		note_return(&config, frame, AGENT_WATCH_RETURN);
	else
		note(&config, frame, ticks_behind());
}
