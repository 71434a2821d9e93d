/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86_64/agent/entries.h"

#include "sysdeps/x86_64/agent/capture.h"
#include "sysdeps/x86_64/agent/cost.h"
#include "sysdeps/x86_64/agent/counts.h"
#include "sysdeps/x86_64/agent/nests.h"
#include "sysdeps/x86_64/agent/returns.h"
#include "sysdeps/x86_64/agent/room.h"
#include "sysdeps/x86_64/agent/stamps.h"
#include "sysdeps/x86_64/agent/threads.h"
#include "sysdeps/x86_64/agent/walk.h"

static inline bool began_there(const struct agent_walk *walk,
			       const struct agent_frame *frame)
{
	return walk->address == frame->return_address &&
	       walk->slot == frame->slot;
}

/*
 * Where that is, or would be: then it takes the place of the older one of two, as it
 * would come to the same one as another, time and again, if there were no choice.
 * NULL: it can't be told by what lies there.
 */
static inline struct agent_walk *place_of_walk(struct agent_block *block,
					       const struct agent_frame *frame)
{
	const uint64_t address = frame->return_address;
	struct agent_walk *home, *beside;
	unsigned at;

	if (address == PLACE || frame->slot % sizeof(uint64_t))
		return NULL;
	at = agent_walk_home(address, frame->slot);
	home = &block->walks[at];
	beside = &block->walks[agent_walk_beside(at)];
	if (__builtin_expect(began_there(home, frame), 1))
		return home;
	if (began_there(beside, frame))
		return beside;
	return beside->number < home->number ? beside : home;
}

/* Branches that always go one way are free. */
static inline bool has_same_words(const struct agent_walk *walk,
				  const uint64_t *stack)
{
	const uint32_t count = walk->count;
	const uint64_t *words = walk->words;
	const uint16_t *at = walk->at;
	uint32_t i;

	_Static_assert(AGENT_WALK_STEP == 4, "as it is done here");
	for (i = 0; i < count; i += AGENT_WALK_STEP)
		if (stack[at[i]] != words[i] ||
		    stack[at[i + 1]] != words[i + 1] ||
		    stack[at[i + 2]] != words[i + 2] ||
		    stack[at[i + 3]] != words[i + 3])
			return false;
	return true;
}

static inline bool is_same_walk(const struct config *config,
				const struct agent_thread *thread,
				const struct agent_frame *frame, uint64_t fp,
				const struct agent_walk *walk)
{
	const uint64_t *stack = (const uint64_t *)frame->slot;
	const uint64_t room =
		(thread->stack_high - frame->slot) / sizeof(*stack);

	return walk->address == frame->return_address &&
	       walk->slot == frame->slot && walk->depth == config->depth &&
	       walk->era == __atomic_load_n(&agent_shared.rows_era,
					    __ATOMIC_ACQUIRE) &&
	       (!walk->by_fp || walk->fp == fp) &&
	       walk->count <= AGENT_WALK_WORDS && walk->reach < room &&
	       has_same_words(walk, stack);
}

/*
 * Somebody whom the running handler has interrupted compares one. It must stay as it
 * is, or would be read where there may be nothing. Who was below is jumped out of.
 */
static inline bool is_compared(const struct agent_block *block,
			       const struct agent_frame *frame)
{
	return block->compared > frame->slot;
}

static inline bool compare_walk(const struct config *config,
				struct agent_block *block,
				const struct agent_thread *thread,
				const struct agent_frame *frame, uint64_t fp,
				const struct agent_walk *walk)
{
	const uint64_t before = is_compared(block, frame) ? block->compared : 0;
	bool same;

	__atomic_store_n(&block->compared, frame->slot, __ATOMIC_RELAXED);
	__asm__ volatile("" : : : "memory");
	same = is_same_walk(config, thread, frame, fp, walk);
	__asm__ volatile("" : : : "memory");
	__atomic_store_n(&block->compared, before, __ATOMIC_RELAXED);
	return same;
}

/*
 * Its number, or 0. A handler may come and replace it before it is compared: what was
 * looked at is that walk if its number is there before and after.
 */
static inline uint64_t find_walk(const struct config *config,
				 struct agent_block *block,
				 const struct agent_thread *thread,
				 const struct agent_frame *frame, uint64_t fp,
				 const struct agent_walk *walk)
{
	uint64_t number;

	if (!walk)
		return 0;
	number = __atomic_load_n(&walk->number, __ATOMIC_ACQUIRE);
	if (!number || number == AGENT_WALK_BUSY ||
	    !may_walk(config, thread, frame->slot) ||
	    !compare_walk(config, block, thread, frame, fp, walk))
		return 0;
	return __atomic_load_n(&walk->number, __ATOMIC_ACQUIRE) == number ?
		       number :
		       0;
}

/* NULL: one that a handler has interrupted has it, or may compare it. */
static inline struct agent_walk *begin_walk(const struct config *config,
					    const struct agent_block *block,
					    const struct agent_frame *frame,
					    uint64_t fp,
					    struct agent_walk *walk)
{
	const uint64_t number = walk ? walk->number : AGENT_WALK_BUSY;

	if (number == AGENT_WALK_BUSY || is_compared(block, frame) ||
	    is_forked() || !change_word(&walk->number, number, AGENT_WALK_BUSY))
		return NULL;
	walk->address = frame->return_address;
	walk->slot = frame->slot;
	walk->fp = fp;
	walk->era = __atomic_load_n(&agent_shared.rows_era, __ATOMIC_ACQUIRE);
	walk->depth = config->depth;
	walk->count = walk->by_fp = 0;
	walk->reach = 0;
	return walk;
}

/* Who is told of it must have been told of its frames: so that comes first. */
static inline void end_walk(struct agent_walk *walk, uint64_t number)
{
	if (walk && !is_forked())
		__atomic_store_n(&walk->number, number, __ATOMIC_RELEASE);
}

static inline uint64_t name_of(const struct agent_block *block,
			       const struct agent_walk *walk, uint64_t number)
{
	return number ? agent_walk_name((unsigned)(walk - block->walks),
					number) :
			0;
}

/*
 * NULL: one that a handler has interrupted has it. Nobody but who has it writes to it, or
 * tells of what becomes of it: so calltrap reads that in the same order.
 */
static inline struct agent_told *begin_told(struct agent_block *block,
					    uint64_t *before_ret)
{
	struct agent_told *told = &block->told;

	*before_ret = told->name;
	return *before_ret != AGENT_WALK_BUSY && !is_forked() &&
			       change_own_word(&told->name, *before_ret,
					       AGENT_WALK_BUSY) ?
		       told :
		       NULL;
}

static inline unsigned same_outer(const struct agent_told *told, uint64_t era,
				  const struct stack *stack)
{
	const uint64_t *frame = &stack->frames[stack->count];
	unsigned same = 0;

	if (told->era != era)
		return 0;
	while (same < told->count && same < stack->count &&
	       told->frames[same] == *--frame)
		same++;
	return same;
}

/* name: 0, of one that isn't remembered; then it stays what it was before. */
static inline void end_told(struct agent_told *told, uint64_t before,
			    uint64_t era, const struct stack *stack,
			    unsigned kept, uint64_t name)
{
	unsigned i;

	if (!told || is_forked())
		return;
	for (i = kept; name && i < stack->count; i++)
		told->frames[i] = stack->frames[stack->count - 1 - i];
	if (name) {
		told->count = stack->count;
		told->era = era;
		before = name;
	}
	__atomic_store_n(&told->name, before, __ATOMIC_RELEASE);
}

/* An entry's words in a ring, as they are written. */
struct ring_entry {
	struct agent_block *block;
	uint64_t *ring;
	uint64_t mask, position;
	unsigned words, next; /* all; the one that comes next */
};

static inline void put_word(struct ring_entry *entry, uint64_t word)
{
	entry->ring[(entry->position + entry->next++) & entry->mask] = word;
}

/*
 * Calltrap has read it since it was written last: to get that part of memory back takes
 * as long as a few calls, if nobody has asked for it before.
 */
#define AHEAD 64

static inline void expect_ring(const uint64_t *ring, uint64_t position,
			       uint64_t mask)
{
	__asm__ volatile("prefetchw %0"
			 :
			 : "m"(ring[(position + AHEAD) & mask]));
}

/* The record of any other follows, which has them. */
static inline bool has_arguments(const struct config *config,
				 const struct agent_frame *frame)
{
	return config->mode & AGENT_WATCHES ||
	       frame->stub->failure & AGENT_REPLACES;
}

/* Of the heap's calls what was lost can't be told from what was never made. */
static inline bool begins_record(const struct config *config)
{
	return config->mode & AGENT_RECORDS;
}

/*
 * Up to its arguments, for which there are some words besides those at its begin and
 * its end. place: its slot, or what stands for it. False in a forked child.
 */
static inline bool begin_entry(const struct config *config,
			       const struct agent_thread *thread,
			       const struct agent_frame *frame, uint32_t kind,
			       uint64_t place, unsigned fixed, unsigned more,
			       struct ring_entry *ret)
{
	struct agent_block *block = block_at(config, thread->block);
	const bool has = has_arguments(config, frame);
	const unsigned arguments = has ? frame->stub->arguments : 0;
	const unsigned floats = has ? agent_floats_of(frame->stub->failure) : 0;
	struct ring_entry entry = {
		.block = block,
		.ring = block->ring,
		.mask = config->ring_words - 1,
		.words = fixed + arguments + floats + more,
		.next = fixed,
	};
	uint64_t *const ring = block->ring;
	unsigned i;

	if (begins_record(config))
		entry.position = begin_record(block, entry.mask, entry.words,
					      frame->slot);
	else
		entry.position = is_forked() ?
					 AGENT_NO_RECORD :
					 own_add(&block->head, entry.words);
	if (entry.position == AGENT_NO_RECORD)
		return false;
	expect_ring(ring, entry.position, entry.mask);
	ring[(entry.position + AGENT_WATCH_SLOT) & entry.mask] = place;
	ring[(entry.position + AGENT_WATCH_STUB) & entry.mask] =
		agent_record_stub(frame->stub->index,
				  AGENT_IS_ENTRY |
					  agent_arguments_bits(0, floats) |
					  inner_flag(config, thread, frame),
				  kind, thread->tid);
	for (i = 0; i < arguments; i++)
		put_word(&entry, frame->arguments[i]);
	for (i = 0; i < floats; i++)
		put_word(&entry, frame->floats[i]);
	*ret = entry;
	return true;
}

static inline void put_value(const struct ring_entry *entry, uint64_t value)
{
	entry->ring[(entry->position + AGENT_WATCH_VALUE) & entry->mask] =
		value;
}

/* Behind all else. NULL: there are none. */
static inline void put_pieces(const struct ring_entry *entry,
			      const struct pieces *pieces)
{
	if (pieces && pieces->words)
		write_pieces(pieces, entry->ring, entry->position + entry->next,
			     entry->mask);
}

static inline unsigned words_of(const struct pieces *pieces)
{
	return pieces ? pieces->words : 0;
}

/*
 * It can be read from now on; until then the clock's place has its slot. False: it is to
 * be written once more, and the call begins now, behind all that was told of meanwhile.
 */
static inline bool end_entry(const struct config *config,
			     const struct agent_thread *thread,
			     struct agent_frame *frame,
			     const struct ring_entry *entry)
{
	if (is_forked())
		return true;
	entry->ring[(entry->position + AGENT_WATCH_TIME) & entry->mask] =
		frame->began;
	if (__builtin_expect(end_record(config, entry->block, entry->position,
					entry->words),
			     1))
		return true;
	frame->began = exact_stamp(entry->block, thread, sole_now());
	return false;
}

static inline void note_entered(const struct agent_thread *thread,
				struct agent_frame *frame,
				const struct ring_entry *entry)
{
	frame->entered = end_of_entry(thread, entry->position + entry->words);
}

void write_entry(const struct config *config, const struct agent_thread *thread,
		 struct agent_frame *frame, const struct stack *stack,
		 const struct pieces *pieces, uint64_t flags, uint64_t name)
{
	const uint64_t complete = stack->complete ? AGENT_COMPLETE : 0;
	const unsigned words = words_of(pieces);
	struct ring_entry entry;
	unsigned frames, i;

	for (;;) {
		frames = stack->count - agent_kept_of(flags);
		if (!begin_entry(config, thread, frame, AGENT_WATCH_ENTRY,
				 frame->slot, AGENT_WATCH_FIXED,
				 frames + 1 + words, &entry))
			return;
		put_value(&entry,
			  frames | complete | flags | agent_pieces_bits(words));
		for (i = 0; i < frames; i++)
			put_word(&entry, stack->frames[i]);
		put_word(&entry, name);
		put_pieces(&entry, pieces);
		if (end_entry(config, thread, frame, &entry)) {
			note_entered(thread, frame, &entry);
			return;
		}
		/* What was told before isn't known any more. */
		flags = agent_without_kept(flags);
	}
}

static inline void write_known(const struct config *config,
			       const struct agent_thread *thread,
			       struct agent_frame *frame,
			       const struct pieces *pieces, uint64_t name)
{
	const unsigned words = words_of(pieces);
	struct ring_entry entry;

	do {
		if (!begin_entry(config, thread, frame,
				 agent_watch_kind_bits(AGENT_WATCH_KNOWN,
						       words),
				 name, AGENT_WATCH_SHORT, words, &entry))
			return;
		put_pieces(&entry, pieces);
	} while (!end_entry(config, thread, frame, &entry));
	note_entered(thread, frame, &entry);
}

_Static_assert(AGENT_RECORD_WORDS >= AGENT_WATCH_STORED_WORDS, "either");

RARE enum way go_by_trap(const struct config *config)
{
	while (READ(on)) {
		const uint64_t now = ticks();

		if (serves_traps(config, now))
			return BY_TRAP;
		if (is_alone(config, now))
			close_gate();
		__builtin_ia32_pause();
	}
	return BY_JUMP;
}

/* Its frames were told before, of a call from the same place. */
static inline enum way note_known(const struct config *config,
				  const struct agent_thread *thread,
				  struct agent_frame *frame,
				  const struct pieces *pieces, uint64_t name)
{
	if (!may_go_on(thread, frame))
		return go_by_trap(config);
	write_known(config, thread, frame, pieces, name);
	return way_on(frame);
}

/* Behind the walk, whose name is 0 if it isn't remembered. */
static inline void
write_walked(const struct config *config, const struct agent_thread *thread,
	     struct agent_frame *frame, const struct stack *stack,
	     const struct pieces *pieces, uint64_t tail, uint64_t name)
{
	struct agent_block *block = block_at(config, thread->block);
	const uint64_t era =
		__atomic_load_n(&agent_shared.rows_era, __ATOMIC_ACQUIRE);
	uint64_t before, flags = tail;
	struct agent_told *told = begin_told(block, &before);
	const unsigned kept = told && before ? same_outer(told, era, stack) : 0;

	if (kept)
		flags |= agent_kept_bits(kept, before);
	if (told && name)
		flags |= AGENT_TOLD;
	write_entry(config, thread, frame, stack, pieces, flags, name);
	end_told(told, before, era, stack, kept, name);
}

/*
 * What an allocator calls within itself (malloc within posix_memalign) is no
 * call of the program's, and nobody is told of it at the trap either.
 */
static __attribute__((noinline)) enum way
note_walked(const struct config *config, const struct agent_thread *thread,
	    struct agent_frame *frame, uint64_t fp, const struct pieces *pieces,
	    struct agent_walk *place)
{
	struct agent_block *block = block_at(config, thread->block);
	struct agent_walk *log = begin_walk(config, block, frame, fp, place);
	struct stack stack;
	const uint64_t tail = tail_flag(frame);
	uint64_t number = 0;

	stack.within = false;
	if (!take_stack(config, thread, frame, fp, log, &stack) ||
	    !may_go_on(thread, frame)) {
		end_walk(log, 0);
		return stack.within && config->mode & AGENT_WATCHES ?
			       BY_JUMP :
			       go_by_trap(config);
	}
	if (log && log->count)
		number = own_add(&block->walked, 1) + 1;
	write_walked(config, thread, frame, &stack, pieces, tail,
		     name_of(block, log, number));
	end_walk(log, number);
	return way_on(frame);
}

/* pieces: of what its arguments lead to; or NULL. */
static inline enum way note_entry(const struct config *config,
				  const struct agent_thread *thread,
				  struct agent_frame *frame, uint64_t fp,
				  const struct pieces *pieces)
{
	struct agent_block *block = block_at(config, thread->block);
	struct agent_walk *place;
	uint64_t number;
	enum way way;

	if (!has_room(config, block, AGENT_BOTH_WORDS))
		return BY_JUMP;
	if (is_to_stop(config, frame))
		return go_by_trap(config);
	place = place_of_walk(block, frame);
	number = find_walk(config, block, thread, frame, fp, place);
	way = number ? note_known(config, thread, frame, pieces,
				  name_of(block, place, number)) :
		       note_walked(config, thread, frame, fp, pieces, place);
	if (way != BY_TRAP && __builtin_expect(is_sampled(frame->began), 0))
		sample_entry(config, thread, frame->began);
	return way;
}

/* One whose return there is no place for has its number counted, not its time. */
static __attribute__((noinline)) enum way
enter_counted(const struct config *config, struct agent_frame *frame)
{
	const struct agent_thread *thread = find_thread(config);
	enum way way;

	if (!is_forked())
		count_entry(config, thread, frame);
	way = may_go_on(thread, frame) ? way_on(frame) : BY_JUMP;
	if (__builtin_expect(is_sampled(frame->began), 0))
		sample_entry(config, thread, frame->began);
	return way;
}

static void write_begin(const struct config *config,
			const struct agent_thread *thread,
			struct agent_frame *frame, uint64_t caller,
			uint64_t flags, const struct pieces *pieces)
{
	struct ring_entry entry;

	do {
		if (!begin_entry(config, thread, frame, AGENT_WATCH_ENTRY,
				 frame->slot, AGENT_WATCH_FIXED,
				 2 + pieces->words, &entry))
			return;
		put_value(&entry, 1 | flags | agent_pieces_bits(pieces->words));
		put_word(&entry, caller);
		put_word(&entry, 0);
		put_pieces(&entry, pieces);
	} while (!end_entry(config, thread, frame, &entry));
}

static inline bool find_pieces_first(const struct config *config,
				     const struct agent_frame *frame,
				     struct pieces *ret)
{
	ret->count = ret->words = 0;
	return !(frame->stub->failure & AGENT_LOOKS_FIRST) ||
	       find_first_pieces(config, frame, ret);
}

/* A log, without stacks: it may last, and may never come back. */
static __attribute__((noinline)) enum way
enter_recorded(const struct config *config, struct agent_frame *frame)
{
	struct agent_thread *thread = find_thread(config);
	const uint64_t caller = caller_of(frame), tail = tail_flag(frame);
	struct agent_block *block;
	struct pieces pieces;

	if (thread && !thread->block && config->mode & AGENT_WAITS)
		wait_for_block(config, thread);
	if (!thread || !thread->block || !config->ring_words)
		return go_by_trap(config);
	block = block_at(config, thread->block);
	if (!has_room(config, block, AGENT_BOTH_WORDS))
		return BY_JUMP;
	if (!find_pieces_first(config, frame, &pieces) ||
	    !may_go_on(thread, frame))
		return go_by_trap(config);
	write_begin(config, thread, frame, caller, tail, &pieces);
	if (__builtin_expect(is_sampled(frame->began), 0))
		sample_entry(config, thread, frame->began);
	return way_on(frame);
}

/* A log with stacks, and with what arguments lead to. */
static __attribute__((noinline)) enum way
enter_looking(const struct config *config, const struct agent_thread *thread,
	      struct agent_frame *frame, uint64_t fp)
{
	struct pieces pieces;

	/* It may wait for that, and what is looked at may change meanwhile. */
	if (!has_room(config, block_at(config, thread->block),
		      AGENT_BOTH_WORDS))
		return BY_JUMP;
	if (!find_first_pieces(config, frame, &pieces))
		return go_by_trap(config);
	return note_entry(config, thread, frame, fp, &pieces);
}

/*
 * Whether it is one within a call of its group that was told of, and hasn't returned: by
 * the place that its return address has. Who is called by that one's jump has it as well.
 * Of an outer one that was jumped out of calltrap knows, see agent_watch_forget_outer().
 */
static inline bool is_stood_for(const struct config *config,
				const struct agent_thread *thread,
				const struct agent_frame *frame)
{
	const uint32_t failure = frame->stub->failure;
	const uint64_t outer = agent_stands_for(thread->within, failure);

	return failure >> AGENT_GROUP_SHIFT &&
	       outer - frame->slot < AGENT_WITHIN_MOST &&
	       may_walk(config, thread, frame->slot) &&
	       outer < thread->stack_high &&
	       *(const volatile uint64_t *)outer == PLACE;
}

/*
 * Its return may be told right behind it, which takes few words. Any other one that was
 * told of shows that the one before is over, however it was left, or costs some words.
 */
static inline void stand_for_others(struct agent_thread *thread,
				    const struct agent_frame *frame)
{
	const uint32_t failure = frame->stub->failure;
	struct agent_return *own;

	if (!(failure >> AGENT_GROUP_SHIFT) || is_forked())
		return;
	thread->within = 0;
	if (!(failure & AGENT_REPLACES) || !frame->entered)
		return;
	thread->within = agent_stands_for(frame->slot, failure);
	own = newest_return(frame->slot);
	if (own)
		own->entered = frame->entered;
}

/*
 * The call is about to begin. Whatever isn't plain goes by the trap: there all
 * is known, and what was missing here is added. But not for want of room: traps
 * that nobody serves any more would be run into by whoever is busy.
 */
unsigned agent_enter(struct agent_frame *frame, uint64_t fp)
{
	struct agent_thread *thread = NULL;
	struct config config;
	enum way way;
	bool nests;

	if (!read_config(&config))
		return BY_JUMP;
	frame->chosen = frame->entered = 0;
	if (config.mode & (AGENT_WATCHES | AGENT_STACKS) && config.tid_offset)
		thread = find_thread(&config);
	frame->began = stamp_of_entry(&config, thread);
	if ((int64_t)(frame->began - agent_shared.beat) >
	    (int64_t)config.patience) {
		close_gate();
		return BY_JUMP;
	}
	if (config.mode & AGENT_COUNTS)
		return enter_counted(&config, frame);
	if (!config.tid_offset)
		return go_by_trap(&config);
	keep_floats(frame);
	if (!(config.mode & (AGENT_WATCHES | AGENT_STACKS)))
		return enter_recorded(&config, frame);
	if (!thread || !thread->block || !config.ring_words)
		return go_by_trap(&config);
	if (is_stood_for(&config, thread, frame))
		return BY_JUMP;
	if (__builtin_expect(frame->stub->failure & AGENT_LOOKS_FIRST, 0))
		return enter_looking(&config, thread, frame, fp);
	/* As agent_begin(): it has begun when its entry is written. */
	nests = config.mode & AGENT_RECORDS && is_made_by_agent(frame);
	do {
		__atomic_store_n(&frame->entered, 0, __ATOMIC_RELEASE);
		if (nests) {
			begin_within(thread, frame);
			frame->began = ticks();
		}
		way = note_entry(&config, thread, frame, fp, NULL);
	} while (nests && way == BY_CALL && may_begin_anew(thread));
	if (nests && way != BY_CALL)
		end_within(thread, frame);
	revoke_others(thread);
	stand_for_others(thread, frame);
	return way;
}
