/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86_64/agent/choice.h"

#include "sysdeps/x86_64/agent/cost.h"
#include "sysdeps/x86_64/agent/dice.h"
#include "sysdeps/x86_64/agent/entries.h"
#include "sysdeps/x86_64/agent/exits.h"
#include "sysdeps/x86_64/agent/marks.h"
#include "sysdeps/x86_64/agent/room.h"
#include "sysdeps/x86_64/agent/threads.h"
#include "sysdeps/x86_64/agent/walk.h"

/* Beside the thread, whose address ends in zeros. */
enum chosen_bits {
	CHOSEN = 3, /* enum agent_choice */
	WAS_MARKED = 4,
};

static inline enum agent_act act_of(const struct agent_frame *frame)
{
	return (enum agent_act)(frame->stub->failure >> AGENT_ACT_SHIFT & 3);
}

/* Bytes; what has none is taken for one. No sum of these is ever too large. */
static inline int64_t asked_for(const struct agent_frame *frame)
{
	const uint32_t plan = frame->stub->failure;
	uint64_t bytes = argument(frame, AGENT_SIZE_SHIFT);

	if ((plan >> AGENT_FACTOR_SHIFT & 3) != AGENT_NO_ARGUMENT &&
	    __builtin_mul_overflow(bytes, argument(frame, AGENT_FACTOR_SHIFT),
				   &bytes))
		return INT64_MAX;
	if (bytes > INT64_MAX)
		return INT64_MAX;
	return bytes ? (int64_t)bytes : 1;
}

/* All within is no call of the program's, if its return will be seen. */
static inline bool go_in(struct agent_frame *frame, struct agent_thread *thread,
			 unsigned chosen)
{
	frame->chosen = (uint64_t)thread | chosen;
	if (frame->stub->failure & AGENT_ENTRY_ONLY)
		return true;
	if (!may_go_on(thread, frame))
		return false;
	thread->within = frame->slot;
	return true;
}

RARE uint64_t next_distance(uint64_t mean)
{
	const uint64_t state = __atomic_fetch_add(&agent_shared.dice, DICE_STEP,
						  __ATOMIC_RELAXED);

	return mean > 1 ? 1 + dice_distance(dice_throw(state), mean) : 1;
}

/*
 * What is left behind a mark is as random as if nothing had been before. So
 * what is left before one can be thrown away when the mean is another.
 */
static bool hits_mark(const struct config *config, struct agent_thread *thread,
		      int64_t bytes)
{
	const uint64_t mean = config->mean << config->rate;

	if (!thread->left || thread->rate != config->rate) {
		/* A handler's call in between throws this one away as well. */
		thread->left = next_distance(mean);
		__asm__ volatile("" : : : "memory");
		thread->rate = (uint32_t)config->rate;
	}
	if ((int64_t)thread->left > bytes) {
		own_add(&thread->left, -(uint64_t)bytes);
		return false;
	}
	thread->left = next_distance(mean);
	return true;
}

/* Of what is told of. */
static void measure_hook(const struct config *config,
			 const struct agent_thread *thread, uint64_t began)
{
	const uint64_t took = ticks() - began;

	if (thread->block && took <= SAMPLE_MOST)
		own_add(&block_at(config, thread->block)->told_ticks, took);
}

static __attribute__((noinline)) bool
gives_back_marked(const struct agent_frame *frame)
{
	return agent_is_marked(&agent_shared.marks, frame->arguments[0]);
}

/* It is told of at the trap; what was chosen is to be known there. */
static enum way go_chosen_by_trap(const struct config *config,
				  struct agent_thread *thread,
				  const struct agent_frame *frame,
				  enum agent_choice choice)
{
	enum way way;

	thread->trapped =
		agent_trapped(frame->slot, choice, (unsigned)config->rate);
	way = go_by_trap(config);
	if (way != BY_TRAP)
		thread->trapped = 0;
	return way;
}

static enum way note_chosen(const struct config *config,
			    struct agent_thread *thread,
			    struct agent_frame *frame, uint64_t fp,
			    unsigned chosen)
{
	const enum agent_choice choice = chosen & CHOSEN;
	const uint64_t tail = tail_flag(frame);
	struct agent_block *block = block_at(config, thread->block);
	struct stack stack;

	if (!thread->block || !config->ring_words)
		return go_chosen_by_trap(config, thread, frame, choice);
	if (!has_room(config, block, AGENT_BOTH_WORDS))
		return BY_JUMP;
	if (is_to_stop(config, frame) ||
	    !take_stack(config, thread, frame, fp, NULL, &stack) ||
	    !go_in(frame, thread, chosen))
		return go_chosen_by_trap(config, thread, frame, choice);
	if (chosen & WAS_MARKED)
		agent_remove_mark(&agent_shared.marks, frame->arguments[0]);
	write_entry(config, thread, frame, &stack, NULL,
		    tail | agent_choice_bits(choice, (unsigned)config->rate),
		    0);
	measure_hook(config, thread, frame->began);
	return way_on(frame);
}

/* Whose return can't be seen is passed over, and what is within it isn't. */
static inline enum way pass_over(struct agent_frame *frame,
				 struct agent_thread *thread)
{
	frame->began = 0;
	return go_in(frame, thread, 0) ? way_on(frame) : BY_JUMP;
}

/* What is not to be told goes on as agent_choose() has it. */
static enum way choose(const struct config *config, struct agent_frame *frame,
		       uint64_t fp)
{
	const enum agent_act act = act_of(frame);
	struct agent_thread *thread;
	unsigned chosen = 0;

	thread = config->tid_offset ? find_thread(config) : NULL;
	if (!thread)
		return go_by_trap(config);
	if (agent_is_within(thread->within, frame->slot))
		return BY_JUMP;
	if (act != AGENT_ACQUIRES && gives_back_marked(frame))
		chosen = AGENT_CHOICE_LEFT | WAS_MARKED;
	if (act != AGENT_RELEASES &&
	    hits_mark(config, thread, asked_for(frame)))
		chosen = AGENT_CHOICE_KEPT | (chosen & WAS_MARKED);
	if (chosen)
		return note_chosen(config, thread, frame, fp, chosen);
	if (act == AGENT_RELEASES)
		return BY_JUMP;
	return pass_over(frame, thread);
}

static __attribute__((noinline)) enum way
choose_slowly(struct agent_frame *frame, uint64_t fp)
{
	struct config config;

	if (!read_config(&config))
		return BY_JUMP;
	frame->began = ticks();
	if (is_alone(&config, frame->began)) {
		close_gate();
		return BY_JUMP;
	}
	return choose(&config, frame, fp);
}

struct agent_thread *known_thread(void)
{
	const uint64_t pointer = thread_pointer();
	const int64_t tid_offset = READ(tid_offset);
	struct agent_thread *thread = entry_at(agent_thread_home(pointer));

	return thread->pointer == pointer && tid_offset &&
			       thread->tid == *(const uint32_t *)(pointer +
								  tid_offset) ?
		       thread :
		       NULL;
}

/* The clock isn't read, and nothing is looked at, for what is passed over. */
unsigned agent_choose(struct agent_frame *frame, uint64_t fp)
{
	const enum agent_act act = act_of(frame);
	struct agent_thread *thread = known_thread();
	int64_t bytes;

	if (!thread || act == AGENT_RELEASES)
		return choose_slowly(frame, fp);
	bytes = asked_for(frame);
	if (agent_is_within(thread->within, frame->slot))
		return BY_JUMP;
	if ((int64_t)thread->left <= bytes || thread->rate != READ(rate) ||
	    (act == AGENT_RESIZES && gives_back_marked(frame)))
		return choose_slowly(frame, fp);
	own_add(&thread->left, -(uint64_t)bytes);
	return pass_over(frame, thread);
}

/* What the call has given back lives on. */
static inline bool has_not_resized(const struct agent_frame *frame)
{
	return act_of(frame) == AGENT_RESIZES && !frame->result &&
	       argument(frame, AGENT_SIZE_SHIFT);
}

static uint64_t acquired_by(const struct agent_frame *frame)
{
	if (!(frame->stub->failure & AGENT_STORES))
		return frame->result;
	return (uint32_t)frame->result ? 0 :
					 *(const uint64_t *)frame->arguments[0];
}

/* Before anybody else can know of it, and give it back. */
static enum agent_watch_kind mark_chosen(const struct agent_frame *frame)
{
	uint64_t address = 0;

	if (frame->chosen & WAS_MARKED && has_not_resized(frame))
		address = frame->arguments[0];
	else if ((frame->chosen & CHOSEN) == AGENT_CHOICE_KEPT)
		address = acquired_by(frame);
	if (!address || agent_add_mark(&agent_shared.marks, address))
		return AGENT_WATCH_RETURN;
	common_add(&agent_shared.unmarked, 1);
	return AGENT_WATCH_UNMARKED;
}

/* A call that was told of has returned. */
void agent_chosen(const struct agent_frame *frame)
{
	const uint64_t bits = CHOSEN | WAS_MARKED;
	struct agent_thread *thread =
		(struct agent_thread *)(frame->chosen & ~bits);
	const uint64_t began = ticks();
	struct config config;
	enum agent_watch_kind kind;

	thread->within = 0;
	if (!read_config(&config))
		return;
	kind = mark_chosen(frame);
	note_return(&config, frame, kind);
	measure_hook(&config, thread, began);
}
