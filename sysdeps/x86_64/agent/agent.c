/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent: runs inside traced processes, in any thread, in signal handlers,
 * in the middle of malloc. So it calls nothing, takes no lock, waits for
 * nothing, and touches neither errno nor floating-point registers.
 */
/* No loop may become a call of memset(): there is none. Clang needs no more
   than -fno-builtin for that, and doesn't know this option. */
#ifndef __clang__
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

#include <asm/errno.h>
#include <asm/mman.h>
#include <asm/unistd_64.h>
#include <linux/memfd.h>
#include <stdbool.h>
#include <stddef.h>

#include "sysdeps/x86_64/agent/dice.h"
#include "sysdeps/x86_64/agent/layout.h"
#include "sysdeps/x86_64/agent/marks.h"
#include "sysdeps/x86_64/agent/net.h"
#include "sysdeps/x86_64/agent/system_call.h"

/* There is little room. gcc's code is smaller. */
#ifdef __clang__
#define RARE __attribute__((noinline, minsize))
#else
#define RARE __attribute__((noinline))
#endif

#define HIDDEN __attribute__((visibility("hidden")))

/* <linux/socket.h> hasn't got it. */
#define MSG_TRUNC 0x20

#ifndef MAP_SHARED
#define MAP_SHARED  1
#define MAP_PRIVATE 2
#endif

extern struct agent_header agent_header HIDDEN;
extern const char agent_end[] HIDDEN;
extern struct agent_gate agent_gate HIDDEN;
extern struct agent_returns agent_returns HIDDEN;
extern struct agent_shared agent_shared HIDDEN;
extern const char agent_back[] HIDDEN;

/* What agent_hook (hook.S) has on the stack; the return address follows. */
struct agent_frame {
	uint64_t arguments[AGENT_ARGUMENTS];
	const struct agent_stub *stub;
	uint64_t began;
	uint64_t result;
	uint64_t second_result;
	uint64_t chosen;  /* SAMPLES: the thread, and enum chosen_bits */
	uint64_t slot;    /* where the return address lies on the stack */
	uint64_t entered; /* end_of_entry() of its own; 0: it has none */
	uint64_t return_address; /* … or what stands for it, see caller_of() */
};

_Static_assert(offsetof(struct agent_frame, return_address) == 104,
	       "as hook.S has it");
_Static_assert(offsetof(struct agent_stub, original) == AGENT_STUB_ORIGINAL,
	       "as hook.S has it");
_Static_assert(offsetof(struct agent_header, boot_returns) ==
		       AGENT_BOOT_RETURNS,
	       "as hook.S has it");
_Static_assert(AGENT_BOOTS == 8 && AGENT_BOOT_SIZE == 32, "as hook.S has it");
_Static_assert(offsetof(struct agent_stub, door) == AGENT_STUB_DOOR,
	       "as hook.S has it");
_Static_assert(sizeof(struct agent_stub) == AGENT_STUB_SIZE, "no holes");
_Static_assert(sizeof(struct agent_thread) == 64, "a cache line");
_Static_assert(offsetof(struct agent_thread, within) == 48, "as hook.S has it");
_Static_assert(offsetof(struct agent_frame, chosen) == 80, "as hook.S has it");
_Static_assert(offsetof(struct agent_frame, slot) == 88, "as hook.S has it");
_Static_assert(AGENT_MARK_LINES == 1 << (64 - 49), "as hook.S has it");
_Static_assert(AGENT_GATE_OFFSET == 0xc000 && AGENT_RETURNS_OFFSET == 0x10000 &&
		       AGENT_SHARED_OFFSET == 0x120000,
	       "as agent.ld has it");

/* What agent_back has there: registers, and the slot. */
struct agent_result {
	uint64_t others[7];
	uint64_t second;
	uint64_t result;
	uint64_t slot;
};

void agent_note(const struct agent_frame *frame) HIDDEN;
unsigned agent_enter(struct agent_frame *frame, uint64_t fp) HIDDEN;
unsigned agent_put_back(const struct agent_frame *frame) HIDDEN;
void agent_come_back(struct agent_result *result) HIDDEN;
void agent_returned(const struct agent_frame *frame, uint64_t now) HIDDEN;
unsigned agent_choose(struct agent_frame *frame, uint64_t fp) HIDDEN;
void agent_chosen(const struct agent_frame *frame) HIDDEN;
void agent_boot_run(uint64_t turn) HIDDEN;

static inline uint64_t ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/*
 * One instruction can't be interrupted half-way by a signal handler of the
 * same thread; no other thread writes there. That spares the lock prefix.
 */
static inline uint64_t own_add(uint64_t *number, uint64_t by)
{
	__asm__ volatile("xaddq %0, %1"
			 : "+r"(by), "+m"(*number)
			 :
			 : "memory", "cc");
	return by;
}

static inline void common_add(uint64_t *number, uint64_t by)
{
	__atomic_fetch_add(number, by, __ATOMIC_RELAXED);
}

/* Nobody is there; if somebody is, he shall know that calls went by. */
static inline void close_gate(void)
{
	common_add(&agent_shared.closed, 1);
	agent_gate.on = 0;
}

/* ---- threads ---- */

static inline uint64_t thread_pointer(void)
{
	uint64_t pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

static inline unsigned home_of(uint64_t pointer)
{
	return (pointer >> 6) * 0x9e3779b97f4a7c15ull >> 54;
}

_Static_assert(AGENT_THREADS == 1 << (64 - 54), "as home_of() has it");

/* How the memory is laid out, and what is to be done. */
struct config {
	uint64_t mode;
	uint64_t patience;
	uint64_t blocks;
	uint64_t block_size;
	uint64_t ring_words;
	int64_t errno_offset;
	int64_t tid_offset;
	uint64_t capture_bytes;
	uint64_t depth;
	uint64_t mean;
	uint64_t rate;
	uint64_t since;
};

#define READ(member) __atomic_load_n(&agent_gate.member, __ATOMIC_ACQUIRE)

/*
 * Once, and whether the gate is open last: a signal handler may fork at any
 * point, and in the child all of this is zeros from then on.
 */
static inline bool read_config(struct config *ret)
{
	ret->mode = READ(mode);
	ret->patience = READ(patience);
	ret->blocks = READ(blocks);
	ret->block_size = READ(block_size);
	ret->ring_words = READ(ring_words);
	ret->errno_offset = READ(errno_offset);
	ret->tid_offset = READ(tid_offset);
	ret->capture_bytes = READ(capture_bytes);
	ret->depth = READ(depth);
	ret->mean = READ(mean);
	ret->rate = READ(rate) % AGENT_RATES;
	ret->since = READ(since);
	return READ(on);
}

static uint32_t take_offer(uint32_t *offer_ret)
{
	uint32_t i, block;

	for (i = 0; i < AGENT_OFFERS; i++) {
		if (!agent_shared.offers[i])
			continue;
		block = __atomic_exchange_n(&agent_shared.offers[i], 0,
					    __ATOMIC_ACQ_REL);
		*offer_ret = i;
		if (block)
			return block;
	}
	return 0;
}

/* A handler may come at any point and do the same for its thread first. */
static void take_block(struct agent_thread *thread)
{
	uint32_t none = 0, offer, block = take_offer(&offer);

	if (block &&
	    !__atomic_compare_exchange_n(&thread->block, &none, block, false,
					 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		__atomic_store_n(&agent_shared.offers[offer], block,
				 __ATOMIC_RELEASE);
}

/* The pointer is this thread's; whose the entry was before has ended. */
static struct agent_thread *adopt(struct agent_thread *thread, uint32_t tid)
{
	uint32_t former = __atomic_load_n(&thread->tid, __ATOMIC_ACQUIRE);

	if (former != tid &&
	    (former == AGENT_RELEASED ||
	     !__atomic_compare_exchange_n(&thread->tid, &former, tid, false,
					  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)))
		return NULL;
	if (former != tid) {
		thread->within = 0;
		thread->trapped = 0;
	}
	if (!thread->block)
		take_block(thread);
	return thread;
}

static inline struct agent_thread *entry_at(unsigned at)
{
	return &agent_shared.threads[at % AGENT_THREADS];
}

/* An entry that was freed may lie before the one that the thread has. */
static RARE struct agent_thread *claim(uint64_t pointer, uint32_t tid)
{
	const unsigned home = home_of(pointer);
	unsigned i;

	for (i = 0; i < AGENT_PROBING; i++)
		if (entry_at(home + i)->pointer == pointer)
			return adopt(entry_at(home + i), tid);
	for (i = 0; i < AGENT_PROBING; i++) {
		uint64_t nobody = 0;

		if (!entry_at(home + i)->pointer &&
		    __atomic_compare_exchange_n(&entry_at(home + i)->pointer,
						&nobody, pointer, false,
						__ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return adopt(entry_at(home + i), tid);
	}
	return NULL;
}

static inline uint32_t own_tid(const struct config *config)
{
	const char *thread = (const char *)thread_pointer();

	/* No system call: a filter may kill for it. */
	if (!config->tid_offset)
		return 0;
	return *(const uint32_t *)(thread + config->tid_offset);
}

static inline struct agent_thread *find_thread(const struct config *config)
{
	const uint64_t pointer = thread_pointer();
	const uint32_t tid = own_tid(config);
	struct agent_thread *thread = entry_at(home_of(pointer));

	if (__builtin_expect(thread->pointer == pointer && thread->tid == tid &&
				     thread->block,
			     1))
		return thread;
	return claim(pointer, tid);
}

static inline struct agent_block *block_at(const struct config *config,
					   uint64_t number)
{
	uint64_t shared = (uint64_t)&agent_shared;

	/* It goes on behind what the compiler thinks is its end. */
	__asm__("" : "+r"(shared));
	return (struct agent_block *)(shared + config->blocks +
				      number * config->block_size);
}

/* ---- replaced returns ---- */

#define PLACE ((uint64_t)agent_back)

static inline bool is_at(uint64_t word, uint64_t slot)
{
	return (word & ~(uint64_t)AGENT_RETURN_STATES) == slot;
}

/* All of it is there. */
static inline bool is_set(uint64_t word)
{
	return (word & AGENT_RETURN_STATES) >= AGENT_RETURN_SET;
}

/* Of those that have the slot the one that returns next; or NULL. */
static struct agent_return *newest_return(uint64_t slot)
{
	const unsigned home = agent_return_home(slot);
	struct agent_return *newest = NULL;
	unsigned i;

	for (i = home; i < home + AGENT_RETURN_WAYS; i++) {
		struct agent_return *one = &agent_returns.list[i];
		const uint64_t word = __atomic_load_n(&agent_returns.slots[i],
						      __ATOMIC_ACQUIRE);

		if (is_at(word, slot) && is_set(word) &&
		    (!newest || one->level > newest->level))
			newest = one;
	}
	return newest;
}

/* What lies at the slot, or what that stands for. */
static inline uint64_t true_return(uint64_t slot, uint64_t address)
{
	const struct agent_return *own;

	if (__builtin_expect(address != PLACE, 1))
		return address;
	own = newest_return(slot);
	return own ? own->caller : address;
}

static inline uint64_t caller_of(const struct agent_frame *frame)
{
	return true_return(frame->slot, frame->return_address);
}

static inline bool change_word(uint64_t *word, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(word, &from, to, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Who has claimed one needs some instructions. In a forked child it is gone. */
#define CLAIMED_MOST (1u << 20)

static inline unsigned state_of(uint64_t word)
{
	return word & AGENT_RETURN_STATES;
}

/*
 * False when it is still claimed, by a thread that gets no processor: that one
 * may write to the slot yet, and the place stays its own. That is waited for
 * once, and noted.
 */
static bool free_return(unsigned i, uint64_t slot)
{
	uint64_t *word = &agent_returns.slots[i];
	unsigned tries;

	for (tries = 0; tries < CLAIMED_MOST; tries++) {
		const uint64_t found = __atomic_load_n(word, __ATOMIC_ACQUIRE);

		if (!is_at(found, slot))
			return true;
		if (state_of(found) == AGENT_RETURN_STUCK)
			return false;
		if (state_of(found) == AGENT_RETURN_CLAIMED)
			__builtin_ia32_pause();
		else if (change_word(word, found, 0))
			return true;
	}
	(void)change_word(word, slot | AGENT_RETURN_CLAIMED,
			  slot | AGENT_RETURN_STUCK);
	return false;
}

/* The slot is another call's: what was there never came back. */
static bool forget_returns(uint64_t slot)
{
	const unsigned home = agent_return_home(slot);
	bool all = true;
	unsigned i;

	for (i = home; i < home + AGENT_RETURN_WAYS; i++)
		if (is_at(agent_returns.slots[i], slot))
			all &= free_return(i, slot);
	return all;
}

/* Of the running thread. */
static inline bool is_own(unsigned i)
{
	return agent_returns.list[i].thread == thread_pointer();
}

/*
 * Of a call deeper in the thread's own stack, which has never come back; what
 * lies in its slot says so, too: on what looks like one stack there may be two.
 * Another thread's may be gone by now.
 */
static bool is_over(const struct agent_thread *thread, unsigned i,
		    uint64_t word, uint64_t now)
{
	const uint64_t slot = word & ~(uint64_t)AGENT_RETURN_STATES;

	return thread && thread->stack_tid == thread->tid &&
	       state_of(word) == AGENT_RETURN_SET && is_own(i) && slot < now &&
	       slot >= thread->stack_low && now < thread->stack_high &&
	       *(const volatile uint64_t *)slot != PLACE;
}

static struct agent_return *take_return(const struct agent_thread *thread,
					uint64_t slot)
{
	const unsigned home = agent_return_home(slot);
	const uint64_t own = slot | AGENT_RETURN_NEW;
	unsigned i;

	for (i = home; i < home + AGENT_RETURN_WAYS; i++)
		if (!agent_returns.slots[i] &&
		    change_word(&agent_returns.slots[i], 0, own))
			return &agent_returns.list[i];
	for (i = home; i < home + AGENT_RETURN_WAYS; i++) {
		const uint64_t word = agent_returns.slots[i];

		if (is_over(thread, i, word, slot) &&
		    change_word(&agent_returns.slots[i], word, own))
			return &agent_returns.list[i];
	}
	return NULL;
}

/* What lies between a thread's stack pointer and the end of its stack is there. */
static inline bool is_on_stack(const struct agent_thread *thread, uint64_t slot,
			       uint64_t sp)
{
	return thread && thread->stack_tid == thread->tid &&
	       sp >= thread->stack_low && slot >= sp &&
	       slot < thread->stack_high;
}

static void fill_return(struct agent_return *ret,
			const struct agent_thread *thread,
			const struct agent_frame *frame, uint64_t address,
			const struct agent_return *outer)
{
	const bool known = is_on_stack(thread, frame->slot, frame->slot);
	unsigned i;

	for (i = 0; i < AGENT_ARGUMENTS; i++)
		ret->arguments[i] = frame->arguments[i];
	ret->stub = (uint64_t)frame->stub;
	ret->began = frame->began;
	ret->chosen = frame->chosen;
	ret->address = address;
	ret->caller = outer ? outer->caller : address;
	ret->thread = thread_pointer();
	ret->level = outer ? outer->level + 1 : 0;
	ret->stack_low = known ? thread->stack_low : 0;
	ret->stack_high = known ? thread->stack_high : 0;
}

/*
 * The call will return to agent_back. False when there is no place to remember
 * it, or the gate is shut: who has shut it looks which returns are still to
 * come, and sees either this one or none. A tail caller has replaced it already,
 * and who has put it back since has done so for both.
 */
static __attribute__((noinline)) bool
replace_return(const struct agent_thread *thread, struct agent_frame *frame)
{
	uint64_t *at = (uint64_t *)frame->slot;
	const uint64_t address = *at;
	const struct agent_return *outer = NULL;
	struct agent_return *own;
	unsigned i;

	if (frame->slot & AGENT_RETURN_STATES)
		return false;
	if (address == PLACE)
		outer = newest_return(frame->slot);
	else if (!forget_returns(frame->slot))
		return false;
	own = address != PLACE || outer ? take_return(thread, frame->slot) :
					  NULL;
	if (!own)
		return false;
	fill_return(own, thread, frame, address, outer);
	i = (unsigned)(own - agent_returns.list);
	if (!outer)
		__atomic_store_n(at, PLACE, __ATOMIC_RELEASE);
	__atomic_exchange_n(&agent_returns.slots[i],
			    frame->slot | AGENT_RETURN_SET, __ATOMIC_SEQ_CST);
	if (__builtin_expect(READ(on), 1))
		return true;
	if (!outer)
		__atomic_store_n(at, address, __ATOMIC_RELEASE);
	(void)free_return(i, frame->slot);
	return false;
}

/*
 * Without a fault where there is nothing: the kernel reads a set there first
 * (EFAULT), and then doesn't know the way (EINVAL). Any other answer is a filter's,
 * and says nothing.
 */
static long ask_what_is_at(uint64_t address)
{
	const long no_such_way = 100;

	return system_call(__NR_rt_sigprocmask, no_such_way, (long)address, 0,
			   8, 0, 0);
}

/* That was known when the call began. */
static inline bool is_on_its_stack(const struct agent_return *own,
				   uint64_t slot, uint64_t sp)
{
	return own->thread == thread_pointer() && sp >= own->stack_low &&
	       slot >= sp && slot < own->stack_high;
}

/*
 * False when it never came back. That may be another's memory by now, which can
 * only be read: so it is read first. One that can't be looked at stays as it is.
 */
static bool put_slot_back(const struct agent_thread *thread, unsigned i,
			  uint64_t slot, uint64_t sp)
{
	const uint64_t address = agent_returns.list[i].address;
	const bool known = is_on_stack(thread, slot, sp) ||
			   is_on_its_stack(&agent_returns.list[i], slot, sp);
	const long answer = known ? -EINVAL : ask_what_is_at(slot);

	if (answer != -EINVAL)
		return answer != -EFAULT;
	if (*(const volatile uint64_t *)slot != PLACE)
		return false;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (is_at(agent_returns.slots[i], slot))
		(void)change_word((uint64_t *)slot, PLACE, address);
	return true;
}

/*
 * That of a tail caller is the outermost's, and isn't claimed either: it would be
 * waited for. The thread's own is put back whoever has claimed it, who may get no processor, or
 * be one that a forked child hasn't: both write the same.
 */
static void put_back(const struct agent_thread *thread, unsigned i,
		     uint64_t word, uint64_t sp)
{
	const uint64_t slot = word & ~(uint64_t)AGENT_RETURN_STATES;
	bool claimed;

	if (agent_returns.list[i].level)
		return;
	claimed = state_of(word) == AGENT_RETURN_SET &&
		  change_word(&agent_returns.slots[i], word,
			      slot | AGENT_RETURN_CLAIMED);
	if (!claimed && !is_own(i))
		return;
	if (!put_slot_back(thread, i, slot, sp))
		word = 0;
	if (claimed)
		__atomic_store_n(&agent_returns.slots[i], word,
				 __ATOMIC_RELEASE);
}

/* The agent's own frames, as far as they are looked at here. */
#define OWN_FRAMES 512

/*
 * The thread's own may lie below as well: it may be on the stack that it has for
 * signals. On a stack that is known to be another thread's a coroutine may go on that
 * has begun there: who walks stands on it then.
 */
static bool may_be_ours(unsigned i, uint64_t word, uint64_t sp)
{
	const struct agent_return *own = &agent_returns.list[i];
	const uint64_t slot = word & ~(uint64_t)AGENT_RETURN_STATES;
	const uint64_t here = (uint64_t)__builtin_frame_address(0);

	if (is_set(word) && is_own(i))
		return slot >= sp || slot < here - OWN_FRAMES;
	return state_of(word) == AGENT_RETURN_SET && slot >= sp &&
	       slot - sp < AGENT_NEAR &&
	       (!own->stack_high || sp >= own->stack_low);
}

static void put_all_back(const struct agent_thread *thread, uint64_t sp)
{
	unsigned i;

	for (i = 0; i < AGENT_RETURNS; i++) {
		const uint64_t word = __atomic_load_n(&agent_returns.slots[i],
						      __ATOMIC_ACQUIRE);

		if (word && may_be_ours(i, word, sp))
			put_back(thread, i, word, sp);
	}
}

/* ---- counting ---- */

static inline int64_t result_of(const struct agent_frame *frame)
{
	return frame->stub->failure & AGENT_WIDE ? (int64_t)frame->result :
						   (int32_t)frame->result;
}

static inline bool has_failed(const struct agent_frame *frame)
{
	const uint32_t failure = frame->stub->failure;
	const int64_t result = result_of(frame);

	switch (failure & AGENT_FAILURE) {
	case AGENT_FAILS_MINUS_ONE:
		return result == -1;
	case AGENT_FAILS_POINTER:
		return !result || result == -1;
	case AGENT_FAILS_ZERO:
		return !result;
	case AGENT_FAILS_NEGATIVE:
		return result < 0;
	case AGENT_FAILS_NONZERO:
		return result;
	default:
		return false;
	}
}

static uint32_t *part_of(struct agent_histogram *histogram, uint64_t number)
{
	unsigned octave = 0;

	if (number >= AGENT_PARTS)
		octave = 63 - __builtin_clzll(number) - 4;
	if (octave >= AGENT_OCTAVES)
		return &histogram->counts[AGENT_OCTAVES - 1][AGENT_PARTS - 1];
	if (octave)
		number >>= octave - 1;
	return &histogram->counts[octave][number % AGENT_PARTS];
}

static void count_duration(struct agent_block *block, unsigned index,
			   uint64_t took)
{
	uint32_t *part;

	part = part_of(&agent_histograms(block)[index], took);
	__atomic_fetch_add(part, 1, __ATOMIC_RELAXED);
	if (took > block->counters[index].longest)
		block->counters[index].longest = took;
}

/* It may end in a way that nobody sees: it is counted when it begins. */
static inline bool is_counted(const struct agent_frame *frame)
{
	return frame->stub->failure & AGENT_REPLACES;
}

static inline void count_entry(const struct config *config,
			       const struct agent_thread *thread,
			       const struct agent_frame *frame)
{
	const uint32_t own = thread ? thread->block : 0;
	struct agent_counter *counter =
		&block_at(config, own)->counters[frame->stub->index];

	if (own)
		own_add(&counter->calls, 1);
	else
		common_add(&counter->calls, 1);
}

static inline void count(const struct config *config,
			 struct agent_thread *thread,
			 const struct agent_frame *frame, uint64_t took)
{
	const unsigned index = frame->stub->index;
	const uint32_t own = thread ? thread->block : 0;
	struct agent_block *block = block_at(config, own);
	struct agent_counter *counter = &block->counters[index];
	const bool failed = has_failed(frame);

	if (!is_counted(frame))
		count_entry(config, thread, frame);
	if (own) {
		own_add(&counter->ticks, took);
		if (failed)
			own_add(&counter->failed, 1);
	} else {
		common_add(&counter->ticks, took);
		if (failed)
			common_add(&counter->failed, 1);
	}
	if (config->mode & AGENT_DURATIONS)
		count_duration(block, index, took);
}

/* ---- recording ---- */

static inline uint32_t errno_of(const struct config *config,
				const struct agent_frame *frame)
{
	const char *thread = (const char *)thread_pointer();
	const int64_t offset = config->errno_offset;

	if (!offset || !has_failed(frame))
		return 0;
	return *(const uint32_t *)(thread + offset);
}

/* Nobody is there to read any more. */
static inline bool is_alone(const struct config *config, uint64_t now)
{
	return (int64_t)(now - agent_shared.beat) > (int64_t)config->patience;
}

static inline bool is_full(const struct config *config,
			   const struct agent_block *block, unsigned words)
{
	return block->head + words + AGENT_RING_SLACK -
		       __atomic_load_n(&block->tail, __ATOMIC_ACQUIRE) >
	       config->ring_words;
}

/* A turn of a wait that took more than this part of the patience was none: the
   thread stood, or was in a handler of signals, or had no processor. */
#define TURN_BITS 16

static inline uint64_t turn(const struct config *config, uint64_t took)
{
	return took > config->patience >> TURN_BITS ? 0 : took;
}

/*
 * Returns whether there is any now. The thread keeps its processor meanwhile:
 * every way to give it up is a system call, which a filter may kill for. But it
 * says that it waits, and calltrap may stop it for as long as it reads. Who waits
 * when calltrap leaves is not told of, as who stands at a trap then.
 */
static RARE bool wait_for_room(const struct config *config,
			       struct agent_block *block, unsigned words)
{
	const uint64_t began = ticks();
	uint64_t now = began, turned = 0;

	__atomic_store_n(&block->waiting, own_tid(config), __ATOMIC_RELAXED);
	while (is_full(config, block, words) && READ(on)) {
		const uint64_t before = now;

		now = ticks();
		turned += turn(config, now - before);
		if (is_alone(config, now))
			close_gate();
		__builtin_ia32_pause();
	}
	__atomic_store_n(&block->waiting, 0, __ATOMIC_RELAXED);
	own_add(&block->waited_ticks, ticks() - began);
	own_add(&block->turned_ticks, turned);
	return READ(on) && !is_full(config, block, words);
}

static inline bool has_room(const struct config *config,
			    struct agent_block *block, unsigned words)
{
	if (__builtin_expect(!is_full(config, block, words), 1))
		return true;
	if (config->mode & AGENT_WAITS)
		return wait_for_room(config, block, words);
	own_add(&block->dropped, 1);
	return false;
}

/* Of what one argument, or the result, leads to. */
struct piece {
	const unsigned char *bytes;
	unsigned which;
	unsigned count;
};

struct pieces {
	struct piece list[AGENT_CAPTURES];
	unsigned words; /* of the record */
};

/* Nothing lies there, or the kernel. */
static inline bool is_nowhere(uint64_t address)
{
	return address < 0x10000 || address >> 47;
}

/* Its result may be what there was, be the buffer as small as it likes; and of a
   stream nothing has been written then. */
static inline bool is_cut(const struct agent_frame *frame, unsigned capture)
{
	return capture & AGENT_CAPTURE_ALL && frame->arguments[3] & MSG_TRUNC;
}

/* So many are there, if it has told the truth: a filter or a tracer may answer in
   the kernel's stead. */
static uint64_t written_count(const struct agent_frame *frame, bool events)
{
	const uint64_t room = events ? (uint32_t)frame->arguments[2] :
				       frame->arguments[2];
	const int64_t result = result_of(frame);

	if (result <= 0)
		return 0;
	return (uint64_t)result < room ? (uint64_t)result : room;
}

/* What it has written, wherever that lies. Of structs there may be more than of
   bytes, if there is to be anything. */
static uint64_t written_most(const struct agent_frame *frame, unsigned capture,
			     uint64_t most)
{
	const bool events = capture & AGENT_CAPTURE_TEXT;
	const uint64_t size = events ? AGENT_EVENT_SIZE : 1;
	const uint64_t count = written_count(frame, events);

	if (is_cut(frame, capture))
		return 0;
	if (most && events)
		most = AGENT_CAPTURE_MOST / size * size;
	return count < most / size ? count * size : most;
}

static inline bool is_written(unsigned capture)
{
	return (capture & AGENT_CAPTURE_BY_RESULT) == AGENT_CAPTURE_BY_RESULT;
}

static uint64_t capture_most(const struct config *config,
			     const struct agent_frame *frame, unsigned capture,
			     uint64_t address)
{
	const uint64_t page = 4096 - address % 4096;
	uint64_t most = config->capture_bytes;

	if (most > AGENT_CAPTURE_MOST)
		most = AGENT_CAPTURE_MOST;
	if (is_written(capture))
		return written_most(frame, capture, most);
	if (!(capture & AGENT_CAPTURE_ALL) && most > page)
		most = page;
	if (capture & AGENT_CAPTURE_BY_2 && most > frame->arguments[1])
		most = frame->arguments[1];
	if (capture & AGENT_CAPTURE_BY_3 && most > frame->arguments[2])
		most = frame->arguments[2];
	return most;
}

/*
 * False where it is gone: somebody may have unmapped it since, and calltrap, if it is
 * there, has seen the fault.
 */
#define PEEK(load)                                                    \
	".byte " load ", 0x01\n\t"   /* (%rcx), rax */                \
	".byte 0x0f, 0x1f, 0x80\n\t" /* nopl AGENT_PEEK_MARK(%rax) */ \
	".long %c2"

static inline bool peek_byte(const unsigned char *at, uint32_t *ret)
{
	__asm__ volatile(PEEK("0x0f, 0xb6")
			 : "=a"(*ret), "+c"(at)
			 : "i"(AGENT_PEEK_MARK)
			 : "memory");
	return at;
}

static inline bool peek_word(const unsigned char *at, uint64_t *ret)
{
	__asm__ volatile(PEEK("0x48, 0x8b")
			 : "=a"(*ret), "+c"(at)
			 : "i"(AGENT_PEEK_MARK)
			 : "memory");
	return at;
}

/* With its end; 0: it is gone. */
static unsigned text_length(const unsigned char *text, uint64_t most)
{
	unsigned length = 0;
	uint32_t byte = 1;

	while (length < most && byte)
		if (!peek_byte(&text[length++], &byte))
			return 0;
	return length;
}

/* The original has looked at all that is looked at here, or at its page. */
static struct piece measure(const struct config *config,
			    const struct agent_frame *frame, unsigned capture)
{
	const unsigned which = capture & AGENT_CAPTURE_WHICH;
	const uint64_t address = which == AGENT_CAPTURE_RESULT ?
					 frame->result :
					 frame->arguments[which];
	struct piece piece = { (const unsigned char *)address, which, 0 };
	uint64_t most;

	if (which == 6 || is_nowhere(address))
		return piece;
	most = capture_most(config, frame, capture, address);
	if (!(capture & AGENT_CAPTURE_TEXT) || is_written(capture))
		piece.count = most;
	else
		piece.count = text_length(piece.bytes, most);
	return piece;
}

static __attribute__((noinline)) void
find_pieces(const struct config *config, const struct agent_frame *frame,
	    struct pieces *ret)
{
	unsigned i;

	ret->words = 0;
	for (i = 0; i < AGENT_CAPTURES && frame->stub->captures[i]; i++) {
		ret->list[i] = measure(config, frame, frame->stub->captures[i]);
		ret->words += 1 + (ret->list[i].count + 7) / 8;
	}
}

/* No more is read than the piece has: that may be all there is. */
static uint64_t word_of(const struct piece *piece, unsigned at, bool *gone)
{
	const unsigned left = piece->count - at;
	uint64_t word = 0;
	uint32_t byte;
	unsigned i;

	if (left >= sizeof(word)) {
		*gone = !peek_word(&piece->bytes[at], &word);
		return word;
	}
	for (i = 0; i < left && !*gone; i++) {
		*gone = !peek_byte(&piece->bytes[at + i], &byte);
		word |= (uint64_t)byte << (8 * i);
	}
	return word;
}

static __attribute__((noinline)) void
write_pieces(const struct agent_frame *frame, const struct pieces *pieces,
	     uint64_t *ring, uint64_t position, uint64_t mask)
{
	unsigned i, at;

	for (i = 0; i < AGENT_CAPTURES && frame->stub->captures[i]; i++) {
		const struct piece *piece = &pieces->list[i];
		uint64_t *const head = &ring[position++ & mask];
		bool gone = false;

		/* Once is enough, and calltrap may be gone after that. */
		for (at = 0; at < piece->count; at += 8)
			ring[position++ & mask] =
				gone ? 0 : word_of(piece, at, &gone);
		*head = agent_record_piece(gone ? AGENT_CAPTURE_GONE :
						  piece->which,
					   piece->count);
	}
}

/* Its entry was told, before which there was more room than that. */
static inline bool has_room_to_return(const struct config *config,
				      const struct agent_block *block,
				      unsigned words)
{
	return block->head + words -
		       __atomic_load_n(&block->tail, __ATOMIC_ACQUIRE) <=
	       config->ring_words;
}

static inline bool has_record_room(const struct config *config,
				   struct agent_block *block,
				   const struct agent_frame *frame,
				   unsigned words)
{
	return (frame->stub->failure & AGENT_REPLACES &&
		has_room_to_return(config, block, words)) ||
	       has_room(config, block, words);
}

static inline void write_record(const struct config *config,
				struct agent_block *block, uint32_t tid,
				const struct agent_frame *frame, uint64_t ended)
{
	uint64_t *ring = block->ring;
	const unsigned arguments = frame->stub->arguments;
	const uint64_t mask = config->ring_words - 1;
	unsigned words = AGENT_RECORD_FIXED + arguments;
	struct pieces pieces;
	uint64_t position;
	unsigned i;

	if (frame->stub->captures[0]) {
		find_pieces(config, frame, &pieces);
		words += pieces.words;
	}
	if (!has_record_room(config, block, frame, words))
		return;
	position = own_add(&block->head, words);
	ring[(position + AGENT_WORD_BEGAN) & mask] = frame->began;
	ring[(position + AGENT_WORD_ENDED) & mask] = ended;
	ring[(position + AGENT_WORD_RETURN) & mask] = caller_of(frame);
	ring[(position + AGENT_WORD_SLOT) & mask] = frame->slot;
	ring[(position + AGENT_WORD_RESULT) & mask] = frame->result;
	ring[(position + AGENT_WORD_STUB) & mask] =
		agent_record_stub(frame->stub->index, arguments,
				  errno_of(config, frame), tid);
	for (i = 0; i < arguments; i++)
		ring[(position + AGENT_RECORD_FIXED + i) & mask] =
			frame->arguments[i];
	if (frame->stub->captures[0])
		write_pieces(frame, &pieces, ring,
			     position + AGENT_RECORD_FIXED + arguments, mask);
	__atomic_store_n(&ring[position & mask],
			 agent_record_header(position, words),
			 __ATOMIC_RELEASE);
}

/* For who has none yet. */
static RARE void wait_for_block(const struct config *config,
				struct agent_thread *thread)
{
	while (!thread->block &&
	       __atomic_load_n(&agent_shared.more, __ATOMIC_RELAXED) &&
	       READ(on) && !is_alone(config, ticks())) {
		take_block(thread);
		__builtin_ia32_pause();
	}
}

static inline void record(const struct config *config,
			  struct agent_thread *thread,
			  const struct agent_frame *frame, uint64_t ended)
{
	uint32_t own;

	if (thread && !thread->block && config->mode & AGENT_WAITS)
		wait_for_block(config, thread);
	own = thread ? thread->block : 0;
	if (own && config->ring_words)
		write_record(config, block_at(config, own), thread->tid, frame,
			     ended);
	else if (READ(on))
		common_add(&agent_shared.dropped, 1);
}

/* ---- what it costs ---- */

/* Who takes longer has lost the processor, which would have happened anyway. */
#define SAMPLE_MOST (1u << 16)

static inline bool is_sampled(uint64_t ended)
{
	return ended * 0x9e3779b97f4a7c15ull < UINT64_MAX / AGENT_MEASURED;
}

/*
 * From the original's return on. What is done before it is called, and reading
 * the clock a second time, go on beside other work of the processor.
 */
static RARE void sample(const struct config *config,
			const struct agent_thread *thread, uint64_t ended)
{
	const uint64_t took = ticks() - ended;
	struct agent_block *block;

	if (!thread || !thread->block || took > SAMPLE_MOST)
		return;
	block = block_at(config, thread->block);
	own_add(&block->sampled, 1);
	own_add(&block->sampled_ticks, took);
}

/* What is done then goes on beside nothing: a walk over the stack, say. */
static __attribute__((noinline)) void
sample_entry(const struct config *config, const struct agent_thread *thread,
	     uint64_t began)
{
	const uint64_t took = ticks() - began;

	if (thread && thread->block &&
	    config->mode & (AGENT_RECORDS | AGENT_COUNTS) &&
	    took <= SAMPLE_MOST)
		own_add(&block_at(config, thread->block)->sampled_ticks, took);
}

/*
 * It began when another calltrap was there, whose stub may have been another
 * function's.
 */
static inline bool is_too_old(const struct config *config,
			      const struct agent_frame *frame)
{
	return (int64_t)(frame->began - config->since) < 0;
}

static inline void note(const struct config *config,
			const struct agent_frame *frame, uint64_t ended)
{
	struct agent_thread *thread;

	if (is_alone(config, ended)) {
		close_gate();
		return;
	}
	if (is_too_old(config, frame))
		return;
	thread = find_thread(config);
	if (config->mode & AGENT_COUNTS)
		count(config, thread, frame, ended - frame->began);
	if (config->mode & AGENT_RECORDS)
		record(config, thread, frame, ended);
	if (__builtin_expect(is_sampled(ended), 0))
		sample(config, thread, ended);
}

/* The call has returned. */
void agent_note(const struct agent_frame *frame)
{
	struct config config;

	/* Behind a closed gate the clock isn't read: it may be forbidden. */
	if (read_config(&config))
		note(&config, frame, ticks());
}

/* ---- watching ---- */

/* How agent_watch goes on. */
enum way { BY_CALL, BY_JUMP, BY_TRAP };

/* What a handler needs that comes while frames are written to the stack. */
#define STACK_SPARE 8192

struct stack {
	uint64_t frames[AGENT_DEPTH_MAX];
	unsigned count;
	bool complete;
	bool within; /* a call that a hook has made: it ends there */
};

/* A frame while it is walked over; all of the stack up to high is there. */
struct step {
	uint64_t address; /* in the code */
	uint64_t sp, fp;
	uint64_t high;
	uint64_t own_high; /* of the stack that the walk began on */
	uint64_t left;     /* where the last one was left for another; or 0 */
	bool knows_fp;
	bool by_chain; /* it was found by frame pointers alone */
	/* What it depends on goes there; or NULL. */
	struct agent_walk *log;
	uint64_t slot;
	uint64_t fp_at; /* where .fp was read, and hasn't been used; or 0 */
	bool fp_is_own; /* of who has called */
	unsigned logged;
};

static inline bool is_hook(uint64_t address)
{
	return address >= (uint64_t)&agent_header &&
	       address < (uint64_t)agent_end && address != PLACE;
}

/* Rows go all at once: so none is behind a place that is free. */
static inline bool find_rule(uint64_t address, uint64_t *ret)
{
	const unsigned home = agent_row_home(address);
	unsigned i;

	for (i = 0; i < AGENT_ROW_PROBING; i++) {
		const struct agent_row *row =
			&agent_shared.rows[(home + i) % AGENT_ROWS];
		const uint64_t found =
			__atomic_load_n(&row->address, __ATOMIC_ACQUIRE);

		if (!found)
			return false;
		if (found == address) {
			*ret = row->rule;
			return true;
		}
	}
	return false;
}

/* A word between a frame's begin and the end of the stack. */
static inline bool read_stack(const struct step *step, uint64_t at,
			      uint64_t *ret)
{
	if (at < step->sp || at > step->high - sizeof(*ret) ||
	    at % sizeof(*ret))
		return false;
	*ret = *(const uint64_t *)at;
	return true;
}

/* What is too much, or too far, isn't remembered at all. */
static inline void log_word(struct step *step, uint64_t at, uint64_t word)
{
	const uint64_t offset = (at - step->slot) / sizeof(word);

	if (!step->log)
		return;
	if (step->logged == AGENT_WALK_WORDS || offset > UINT16_MAX ||
	    word == PLACE) {
		step->log = NULL;
		return;
	}
	step->log->at[step->logged] = (uint16_t)offset;
	step->log->words[step->logged++] = word;
}

static inline void log_fp(struct step *step)
{
	if (step->fp_is_own && step->log)
		step->log->by_fp = 1;
	else if (step->fp_at)
		log_word(step, step->fp_at, step->fp);
	step->fp_at = 0;
}

static inline void take_fp(struct step *step, uint64_t at)
{
	step->knows_fp = true;
	step->fp_is_own = false;
	step->fp_at = at;
}

/* Where goroutines' stacks lie nothing is ever unmapped. */
static uint64_t other_stacks_end(uint64_t at)
{
	const uint64_t high =
		__atomic_load_n(&agent_shared.other_high, __ATOMIC_ACQUIRE);
	const uint64_t low =
		__atomic_load_n(&agent_shared.other_low, __ATOMIC_ACQUIRE);

	return at >= low && at < high &&
			       high == __atomic_load_n(&agent_shared.other_high,
						       __ATOMIC_ACQUIRE) ?
		       high :
		       0;
}

/*
 * runtime.asmcgocall() notes who has called, as that one's stack may be moved while C
 * runs, if it calls back. What the frame pointer leads to then isn't its frame. So it
 * must lie near: see src/stack/switch.c, which walks by the same rules.
 */
static bool is_called_by(uint64_t depth, uint64_t goroutine, uint64_t fp)
{
	const uint64_t *bounds = (const uint64_t *)goroutine;
	uint64_t end, low, high;

	if (!depth || depth > AGENT_GO_DEPTH_MAX || depth % sizeof(depth) ||
	    goroutine % sizeof(goroutine))
		return false;
	end = other_stacks_end(goroutine);
	if (!end || end - goroutine < 2 * sizeof(*bounds))
		return false;
	low = bounds[0];
	high = bounds[1];
	return high > low && depth <= high - low &&
	       fp - (high - depth) < AGENT_GO_NEAR;
}

static bool is_noted(const struct step *step, uint64_t fp)
{
	uint64_t below, word, at = step->sp;
	unsigned i;

	if (!read_stack(step, at, &below))
		return false;
	for (i = 1; i < AGENT_GO_NOTED_WITHIN; i++) {
		at += sizeof(word);
		if (!read_stack(step, at, &word))
			return false;
		if (is_called_by(below, word, fp))
			return true;
		below = word;
	}
	return false;
}

/* C's functions have been called from there; or, on the thread's own, have called back. */
static bool switch_stacks(struct step *step)
{
	const uint64_t high = step->fp >= step->slot &&
					      step->fp < step->own_high ?
				      step->own_high :
				      other_stacks_end(step->fp);

	if (!high || !(step->left ? step->fp - step->left < AGENT_GO_NEAR :
				    is_noted(step, step->fp) || step->by_chain))
		return false;
	step->left = step->sp;
	step->sp = step->fp;
	step->high = high;
	step->log = NULL;
	return true;
}

/*
 * push fp; mov sp, fp: where there are no tables. Whether what is found there is a
 * return address is known by its having a rule.
 */
static __attribute__((noinline)) bool step_by_chain(struct step *step,
						    bool switches)
{
	const uint64_t fp = step->fp;
	uint64_t address;

	if (!step->knows_fp)
		return false;
	log_fp(step);
	if ((fp < step->sp || fp >= step->high) &&
	    !(switches && switch_stacks(step)))
		return false;
	if (fp - step->sp > AGENT_FRAME_MAX ||
	    !read_stack(step, fp + sizeof(fp), &address) ||
	    !read_stack(step, fp, &step->fp))
		return false;
	log_word(step, fp + sizeof(fp), address);
	take_fp(step, fp);
	step->by_chain = true;
	step->address = true_return(fp + sizeof(fp), address);
	step->sp = fp + 2 * sizeof(fp);
	return true;
}

/* A frame pointer of 0 is the end of a chain; else it is just a number. */
static inline bool ends_chain(struct step *step, uint64_t rule)
{
	if (!(rule & AGENT_RULE_BY_CHAIN) || !step->by_chain || step->fp)
		return false;
	log_fp(step);
	return true;
}

/* To the caller's; false where that takes more than rules have. */
static inline bool step_out(struct step *step, uint64_t rule)
{
	const uint64_t base = rule & AGENT_RULE_BY_FP ? step->fp : step->sp;
	uint64_t end = base + agent_rule_offset(rule);
	uint64_t address;

	if (rule & AGENT_RULE_BY_CHAIN)
		return step_by_chain(step, rule & AGENT_RULE_SWITCHES);
	if (rule & AGENT_RULE_BY_FP && !step->knows_fp)
		return false;
	if (rule & AGENT_RULE_BY_FP)
		log_fp(step);
	if (rule & AGENT_RULE_IN_MEMORY) {
		const uint64_t at = end;

		if (!read_stack(step, at, &end))
			return false;
		log_word(step, at, end);
	}
	if (end <= step->sp || end > step->high ||
	    !read_stack(step, end - sizeof(address), &address))
		return false;
	log_word(step, end - sizeof(address), address);
	if (rule & AGENT_RULE_FP_UNKNOWN)
		step->knows_fp = false;
	if (rule & AGENT_RULE_FP_SAVED) {
		const uint64_t at = end + agent_rule_fp_offset(rule);

		if (!read_stack(step, at, &step->fp))
			return false;
		take_fp(step, at);
	}
	step->by_chain = false;
	step->address = true_return(end - sizeof(address), address);
	step->sp = end;
	return true;
}

/* One more than the depth is looked at: whether the stack goes on. */
static inline bool walk(struct step *step, uint64_t depth, struct stack *ret)
{
	const uint64_t era =
		__atomic_load_n(&agent_shared.rows_era, __ATOMIC_ACQUIRE);
	uint64_t rule;

	ret->count = 0;
	ret->complete = ret->within = false;
	if (era & 1)
		return false;
	for (;;) {
		if (!find_rule(step->address, &rule)) {
			ret->within = is_hook(step->address);
			return false;
		}
		if (ret->count == depth)
			break;
		ret->frames[ret->count++] = step->address;
		ret->complete = rule & AGENT_RULE_OUTERMOST ||
				ends_chain(step, rule);
		if (ret->complete)
			break;
		if (!step_out(step, rule))
			return false;
	}
	return __atomic_load_n(&agent_shared.rows_era, __ATOMIC_ACQUIRE) == era;
}

/* More is wanted of who acquires than can be known here. */
static inline bool is_to_stop(const struct config *config,
			      const struct agent_frame *frame)
{
	return config->mode & AGENT_STOPS &&
	       !(frame->stub->failure & AGENT_ENTRY_ONLY);
}

/* Of a thread whose stack is known, and that is on it. */
static inline bool may_walk(const struct config *config,
			    const struct agent_thread *thread, uint64_t slot)
{
	const uint64_t low = thread->stack_low, high = thread->stack_high;

	return thread->stack_tid == thread->tid && slot < high &&
	       slot - low < high - low && slot - low >= STACK_SPARE &&
	       slot + sizeof(slot) < high && config->depth &&
	       config->depth <= AGENT_DEPTH_MAX;
}

/* log: what isn't a whole walk, or isn't remembered, leaves .count at 0. */
static inline bool take_stack(const struct config *config,
			      const struct agent_thread *thread,
			      const struct agent_frame *frame, uint64_t fp,
			      struct agent_walk *log, struct stack *ret)
{
	struct step step = {
		.address = caller_of(frame),
		.sp = frame->slot + sizeof(frame->slot),
		.fp = fp,
		.high = thread->stack_high,
		.own_high = thread->stack_high,
		.knows_fp = true,
		.fp_is_own = true,
		.log = log,
		.slot = frame->slot,
	};

	if (!may_walk(config, thread, frame->slot) ||
	    !walk(&step, config->depth, ret))
		return false;
	if (log)
		log->count = step.log ? step.logged : 0;
	return true;
}

/* ---- walks that are remembered ---- */

/* Where that is, or would be; NULL: it can't be told by what lies there. */
static inline struct agent_walk *place_of_walk(struct agent_block *block,
					       const struct agent_frame *frame)
{
	const uint64_t address = frame->return_address;

	if (address == PLACE || frame->slot % sizeof(uint64_t))
		return NULL;
	return &block->walks[agent_walk_home(address, frame->slot)];
}

static inline bool is_same_walk(const struct config *config,
				const struct agent_thread *thread,
				const struct agent_frame *frame, uint64_t fp,
				const struct agent_walk *walk)
{
	const uint64_t *stack = (const uint64_t *)frame->slot;
	const uint64_t room =
		(thread->stack_high - frame->slot) / sizeof(*stack);
	const uint32_t count = walk->count;
	uint32_t i;

	if (walk->address != frame->return_address ||
	    walk->slot != frame->slot || walk->depth != config->depth ||
	    walk->era !=
		    __atomic_load_n(&agent_shared.rows_era, __ATOMIC_ACQUIRE) ||
	    (walk->by_fp && walk->fp != fp) || count > AGENT_WALK_WORDS)
		return false;
	for (i = 0; i < count; i++)
		if (walk->at[i] >= room || stack[walk->at[i]] != walk->words[i])
			return false;
	return true;
}

/*
 * Its number, or 0. A handler may come and replace it at any moment: what was
 * looked at is that walk if its number is there before and after.
 */
static inline uint64_t find_walk(const struct config *config,
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
	    !is_same_walk(config, thread, frame, fp, walk))
		return 0;
	return __atomic_load_n(&walk->number, __ATOMIC_ACQUIRE) == number ?
		       number :
		       0;
}

/* NULL: one that a handler has interrupted has it. */
static inline struct agent_walk *begin_walk(const struct config *config,
					    const struct agent_frame *frame,
					    uint64_t fp,
					    struct agent_walk *walk)
{
	const uint64_t number = walk ? walk->number : AGENT_WALK_BUSY;

	if (number == AGENT_WALK_BUSY ||
	    !change_word(&walk->number, number, AGENT_WALK_BUSY))
		return NULL;
	walk->address = frame->return_address;
	walk->slot = frame->slot;
	walk->fp = fp;
	walk->era = __atomic_load_n(&agent_shared.rows_era, __ATOMIC_ACQUIRE);
	walk->depth = config->depth;
	walk->count = walk->by_fp = 0;
	return walk;
}

/* Who is told of it must have been told of its frames: so that comes first. */
static inline void end_walk(struct agent_walk *walk, uint64_t number)
{
	if (walk)
		__atomic_store_n(&walk->number, number, __ATOMIC_RELEASE);
}

static inline uint64_t name_of(const struct agent_block *block,
			       const struct agent_walk *walk, uint64_t number)
{
	return number ? agent_walk_name((unsigned)(walk - block->walks),
					number) :
			0;
}

/* An entry's words in a ring, as they are written. */
struct ring_entry {
	uint64_t *ring;
	uint64_t mask, position;
	unsigned words, next; /* all; the one that comes next */
};

static inline void put_word(struct ring_entry *entry, uint64_t word)
{
	entry->ring[(entry->position + entry->next++) & entry->mask] = word;
}

/* The record of any other follows, which has them. */
static inline bool has_arguments(const struct config *config,
				 const struct agent_frame *frame)
{
	return config->mode & AGENT_WATCHES ||
	       frame->stub->failure & AGENT_REPLACES;
}

/*
 * Up to its arguments, for which there are some words besides those at its begin and
 * its end. place: its slot, or what stands for it.
 */
static inline struct ring_entry
begin_entry(const struct config *config, struct agent_block *block,
	    uint32_t tid, const struct agent_frame *frame,
	    enum agent_watch_kind kind, uint64_t place, unsigned fixed,
	    unsigned more)
{
	const unsigned arguments =
		has_arguments(config, frame) ? frame->stub->arguments : 0;
	struct ring_entry entry = {
		.ring = block->ring,
		.mask = config->ring_words - 1,
		.words = fixed + arguments + more,
		.next = fixed,
	};
	uint64_t *const ring = block->ring;
	unsigned i;

	entry.position = own_add(&block->head, entry.words);
	ring[(entry.position + AGENT_WATCH_TIME) & entry.mask] = frame->began;
	ring[(entry.position + AGENT_WATCH_SLOT) & entry.mask] = place;
	ring[(entry.position + AGENT_WATCH_STUB) & entry.mask] =
		agent_record_stub(frame->stub->index, AGENT_IS_ENTRY, kind,
				  tid);
	for (i = 0; i < arguments; i++)
		put_word(&entry, frame->arguments[i]);
	return entry;
}

static inline void put_value(const struct ring_entry *entry, uint64_t value)
{
	entry->ring[(entry->position + AGENT_WATCH_VALUE) & entry->mask] =
		value;
}

/* It can be read from now on. */
static inline void end_entry(const struct ring_entry *entry)
{
	__atomic_store_n(&entry->ring[entry->position & entry->mask],
			 agent_record_header(entry->position, entry->words),
			 __ATOMIC_RELEASE);
}

/* What begins there comes next, in the thread's own block. Never 0. */
static inline uint64_t end_of_entry(const struct agent_thread *thread,
				    uint64_t position)
{
	return position ^ (uint64_t)thread->block << 48;
}

static inline void note_entered(const struct agent_thread *thread,
				struct agent_frame *frame,
				const struct ring_entry *entry)
{
	frame->entered = end_of_entry(thread, entry->position + entry->words);
}

static void write_entry(const struct config *config,
			const struct agent_thread *thread,
			struct agent_frame *frame, const struct stack *stack,
			uint64_t flags, uint64_t name)
{
	const uint64_t complete = stack->complete ? AGENT_COMPLETE : 0;
	struct ring_entry entry =
		begin_entry(config, block_at(config, thread->block),
			    thread->tid, frame, AGENT_WATCH_ENTRY, frame->slot,
			    AGENT_WATCH_FIXED, stack->count + 1);
	unsigned i;

	put_value(&entry, stack->count | complete | flags);
	for (i = 0; i < stack->count; i++)
		put_word(&entry, stack->frames[i]);
	put_word(&entry, name);
	end_entry(&entry);
	note_entered(thread, frame, &entry);
}

static void write_known(const struct config *config,
			const struct agent_thread *thread,
			struct agent_frame *frame, uint64_t name)
{
	struct ring_entry entry =
		begin_entry(config, block_at(config, thread->block),
			    thread->tid, frame, AGENT_WATCH_KNOWN, name,
			    AGENT_WATCH_SHORT, 0);

	end_entry(&entry);
	note_entered(thread, frame, &entry);
}

_Static_assert(AGENT_RECORD_WORDS >= AGENT_WATCH_STORED_WORDS, "either");

/* A 64th of the patience: who has given a sign of life since serves traps. */
#define FRESH_BITS 6

/*
 * Somebody must be there for the trap, or it kills. Without a fresh sign of
 * life, one is waited for; what is still missing at the end of the patience
 * isn't told of.
 */
static __attribute__((noinline)) enum way
go_by_trap(const struct config *config)
{
	while (READ(on)) {
		const uint64_t now = ticks();

		if ((int64_t)(now - agent_shared.beat) <=
		    (int64_t)(config->patience >> FRESH_BITS))
			return BY_TRAP;
		if (is_alone(config, now))
			close_gate();
		__builtin_ia32_pause();
	}
	return BY_JUMP;
}

static inline uint64_t tail_flag(const struct agent_frame *frame)
{
	return frame->return_address == PLACE ? AGENT_TAIL_CALL : 0;
}

/* A handler may have come since, and have walked over the stack, or forked. */
static inline bool is_still_replaced(const struct agent_frame *frame)
{
	return *(const volatile uint64_t *)frame->slot == PLACE && READ(on);
}

/* Whether its return is to be told, and how. */
static inline bool may_go_on(const struct agent_thread *thread,
			     struct agent_frame *frame)
{
	return !(frame->stub->failure & AGENT_REPLACES) ||
	       (replace_return(thread, frame) && is_still_replaced(frame));
}

static inline enum way way_on(const struct agent_frame *frame)
{
	return frame->stub->failure & (AGENT_ENTRY_ONLY | AGENT_REPLACES) ?
		       BY_JUMP :
		       BY_CALL;
}

/* Its frames were told before, of a call from the same place. */
static inline enum way note_known(const struct config *config,
				  const struct agent_thread *thread,
				  struct agent_frame *frame, uint64_t name)
{
	if (!may_go_on(thread, frame))
		return go_by_trap(config);
	write_known(config, thread, frame, name);
	return way_on(frame);
}

/*
 * What an allocator calls within itself (malloc within posix_memalign) is no
 * call of the program's, and nobody is told of it at the trap either.
 */
static __attribute__((noinline)) enum way
note_walked(const struct config *config, const struct agent_thread *thread,
	    struct agent_frame *frame, uint64_t fp, struct agent_walk *place)
{
	struct agent_block *block = block_at(config, thread->block);
	struct agent_walk *log = begin_walk(config, frame, fp, place);
	const uint64_t tail = tail_flag(frame);
	struct stack stack;
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
	write_entry(config, thread, frame, &stack, tail,
		    name_of(block, log, number));
	end_walk(log, number);
	return way_on(frame);
}

static enum way note_entry(const struct config *config,
			   const struct agent_thread *thread,
			   struct agent_frame *frame, uint64_t fp)
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
	number = find_walk(config, thread, frame, fp, place);
	way = number ? note_known(config, thread, frame,
				  name_of(block, place, number)) :
		       note_walked(config, thread, frame, fp, place);
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

	count_entry(config, thread, frame);
	way = may_go_on(thread, frame) ? way_on(frame) : BY_JUMP;
	if (__builtin_expect(is_sampled(frame->began), 0))
		sample_entry(config, thread, frame->began);
	return way;
}

static void write_begin(const struct config *config, struct agent_block *block,
			uint32_t tid, const struct agent_frame *frame,
			uint64_t caller, uint64_t flags)
{
	struct ring_entry entry = begin_entry(config, block, tid, frame,
					      AGENT_WATCH_ENTRY, frame->slot,
					      AGENT_WATCH_FIXED, 2);

	put_value(&entry, 1 | flags);
	put_word(&entry, caller);
	put_word(&entry, 0);
	end_entry(&entry);
}

/* A log, without stacks: it may last, and may never come back. */
static __attribute__((noinline)) enum way
enter_recorded(const struct config *config, struct agent_frame *frame)
{
	struct agent_thread *thread = find_thread(config);
	const uint64_t caller = caller_of(frame), tail = tail_flag(frame);
	struct agent_block *block;

	if (thread && !thread->block && config->mode & AGENT_WAITS)
		wait_for_block(config, thread);
	if (!thread || !thread->block || !config->ring_words)
		return go_by_trap(config);
	block = block_at(config, thread->block);
	if (!has_room(config, block, AGENT_BOTH_WORDS))
		return BY_JUMP;
	if (!may_go_on(thread, frame))
		return go_by_trap(config);
	write_begin(config, block, thread->tid, frame, caller, tail);
	if (__builtin_expect(is_sampled(frame->began), 0))
		sample_entry(config, thread, frame->began);
	return way_on(frame);
}

/*
 * The call is about to begin. Whatever isn't plain goes by the trap: there all
 * is known, and what was missing here is added. But not for want of room: traps
 * that nobody serves any more would be run into by whoever is busy.
 */
unsigned agent_enter(struct agent_frame *frame, uint64_t fp)
{
	const struct agent_thread *thread;
	struct config config;

	if (!read_config(&config))
		return BY_JUMP;
	frame->chosen = frame->entered = 0;
	if ((int64_t)(frame->began - agent_shared.beat) >
	    (int64_t)config.patience) {
		close_gate();
		return BY_JUMP;
	}
	if (config.mode & AGENT_COUNTS)
		return enter_counted(&config, frame);
	if (!config.tid_offset)
		return go_by_trap(&config);
	if (!(config.mode & (AGENT_WATCHES | AGENT_STACKS)))
		return enter_recorded(&config, frame);
	thread = find_thread(&config);
	if (!thread || !thread->block || !config.ring_words)
		return go_by_trap(&config);
	return note_entry(&config, thread, frame, fp);
}

/*
 * Reserved by one instruction, as by own_add(): a handler that comes before it writes
 * records of its own in between.
 */
static inline bool own_follow(struct agent_block *block, uint64_t position,
			      unsigned words)
{
	bool done;

	__asm__ volatile("cmpxchgq %3, %1"
			 : "=@cce"(done), "+m"(block->head), "+a"(position)
			 : "r"(position + words)
			 : "memory");
	return done;
}

/* False: something else was written since its entry. */
static inline bool write_behind(const struct config *config,
				struct agent_block *block,
				const struct agent_thread *thread,
				const struct agent_frame *frame, uint64_t now)
{
	uint64_t *ring = block->ring;
	const uint64_t mask = config->ring_words - 1;
	const uint64_t position = end_of_entry(thread, frame->entered);

	if (!frame->entered || !own_follow(block, position, AGENT_WATCH_SHORT))
		return false;
	ring[(position + AGENT_WATCH_TIME) & mask] = now;
	ring[(position + AGENT_WATCH_RESULT) & mask] = frame->result;
	ring[(position + AGENT_WATCH_STUB) & mask] =
		agent_record_stub(frame->stub->index, 0, AGENT_WATCH_FOLLOWS,
				  thread->tid);
	__atomic_store_n(&ring[position & mask],
			 agent_record_header(position, AGENT_WATCH_SHORT),
			 __ATOMIC_RELEASE);
	return true;
}

static void write_return(const struct config *config, struct agent_block *block,
			 uint32_t tid, const struct agent_frame *frame,
			 uint64_t now, enum agent_watch_kind kind, bool stored)
{
	uint64_t *ring = block->ring;
	const uint64_t mask = config->ring_words - 1;
	const unsigned words = stored ? AGENT_WATCH_STORED_WORDS :
					AGENT_WATCH_RETURN_WORDS;
	const uint64_t position = own_add(&block->head, words);
	const uint64_t behind = position + AGENT_WATCH_FIXED;

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
	__atomic_store_n(&ring[position & mask],
			 agent_record_header(position, words),
			 __ATOMIC_RELEASE);
}

/*
 * Its entry was written down: this has its room. But all of it may have been
 * replaced by zeros since.
 */
static inline void note_return(const struct config *config,
			       const struct agent_frame *frame, uint64_t now,
			       enum agent_watch_kind kind)
{
	const struct agent_thread *thread = find_thread(config);
	const bool stored = frame->stub->failure & AGENT_STORES &&
			    !(uint32_t)frame->result;
	struct agent_block *block;

	if (!thread || !thread->block || !config->ring_words ||
	    is_too_old(config, frame))
		return;
	block = block_at(config, thread->block);
	if (block->head + AGENT_WATCH_STORED_WORDS -
		    __atomic_load_n(&block->tail, __ATOMIC_ACQUIRE) >
	    config->ring_words)
		own_add(&block->dropped, 1);
	else if (stored || kind != AGENT_WATCH_RETURN ||
		 !write_behind(config, block, thread, frame, now))
		write_return(config, block, thread->tid, frame, now, kind,
			     stored);
}

void agent_returned(const struct agent_frame *frame, uint64_t now)
{
	struct config config;

	if (!read_config(&config))
		return;
	if (config.mode & AGENT_WATCHES)
		note_return(&config, frame, now, AGENT_WATCH_RETURN);
	else
		note(&config, frame, now);
}

/* ---- sampling ---- */

/* Beside the thread, whose address ends in zeros. */
enum chosen_bits {
	CHOSEN = 3, /* enum agent_choice */
	WAS_MARKED = 4,
};

static inline enum agent_act act_of(const struct agent_frame *frame)
{
	return (enum agent_act)(frame->stub->failure >> AGENT_ACT_SHIFT & 3);
}

static inline uint64_t argument(const struct agent_frame *frame, unsigned shift)
{
	return frame->arguments[frame->stub->failure >> shift & 3];
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

static uint64_t next_distance(uint64_t mean)
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
		agent_remove_mark(agent_shared.marks, frame->arguments[0]);
	write_entry(config, thread, frame, &stack,
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
	if (act != AGENT_ACQUIRES &&
	    agent_is_marked(agent_shared.marks, frame->arguments[0]))
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

/* If it is where it is looked for first. */
static inline struct agent_thread *known_thread(void)
{
	const uint64_t pointer = thread_pointer();
	const int64_t tid_offset = READ(tid_offset);
	struct agent_thread *thread = entry_at(home_of(pointer));

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
	    (act == AGENT_RESIZES &&
	     agent_is_marked(agent_shared.marks, frame->arguments[0])))
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
	if (!address || agent_add_mark(agent_shared.marks, address))
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
	__asm__ volatile("lfence" : : : "memory");
	note_return(&config, frame, ticks(), kind);
	measure_hook(&config, thread, began);
}

/* ---- coming back ---- */

static void tell_return(const struct agent_frame *frame)
{
	struct agent_thread *thread =
		(struct agent_thread *)(frame->chosen & -sizeof(*thread));
	struct config config;
	uint64_t now;

	if (!read_config(&config)) {
		/* In a forked child, whose gate is all zeros, that is another's. */
		if (frame->chosen && READ(patience))
			thread->within = 0;
		return;
	}
	if (frame->chosen && frame->began) {
		agent_chosen(frame);
		return;
	}
	if (frame->chosen) {
		thread->within = 0;
		return;
	}
	__asm__ volatile("lfence" : : : "memory");
	now = ticks();
	if (config.mode & AGENT_WATCHES)
		note_return(&config, frame, now, AGENT_WATCH_RETURN);
	else
		note(&config, frame, now);
}

/* False when it is another call's by now, or none's. */
static bool read_return(unsigned i, struct agent_frame *frame,
			uint64_t *address)
{
	const struct agent_return *own = &agent_returns.list[i];
	unsigned k;

	for (k = 0; k < AGENT_ARGUMENTS; k++)
		frame->arguments[k] = own->arguments[k];
	frame->stub = (const struct agent_stub *)own->stub;
	frame->began = own->began;
	frame->chosen = own->chosen;
	frame->return_address = own->caller;
	*address = own->address;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return is_at(agent_returns.slots[i], frame->slot);
}

/*
 * Whatever has become of calltrap: the call must return where it would have.
 * Who walks over this stack since it has begun to return, a handler or another
 * thread, puts the address back, and the next one forgets the call: so where to
 * go on is what the slot says, if it says anything.
 */
void agent_come_back(struct agent_result *result)
{
	volatile uint64_t *slot = &result->slot;
	const struct agent_return *own = newest_return((uint64_t)slot);
	const unsigned i = own ? (unsigned)(own - agent_returns.list) : 0;
	struct agent_frame frame;
	uint64_t address;

	frame.slot = (uint64_t)slot;
	frame.entered = 0;
	if (!own || !read_return(i, &frame, &address)) {
		if (*slot == PLACE)
			__builtin_trap();
		return;
	}
	frame.result = result->result;
	frame.second_result = result->second;
	if (address != PLACE && *slot == PLACE)
		*slot = address; /* anybody else writes the same */
	(void)free_return(i, frame.slot);
	tell_return(&frame);
}

/*
 * A function is about to walk over this stack. Where nobody wants to know of
 * its calls, the door leads where the original does.
 */
unsigned agent_put_back(const struct agent_frame *frame)
{
	struct agent_thread *thread = known_thread();
	struct config config;

	put_all_back(thread, frame->slot);
	if (!read_config(&config))
		return BY_JUMP;
	if (thread && config.mode & AGENT_SAMPLES)
		thread->within = 0;
	return frame->stub->door == frame->stub->original ? BY_JUMP :
							    go_by_trap(&config);
}

/* ---- getting in ---- */

/* Rarely run. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((minsize)), apply_to = function)
#endif

static long map_own(void *at, long size)
{
	long err = system_call(__NR_mmap, (long)at, size,
			       PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS |
				       MAP_NORESERVE,
			       -1, 0);

	return err == (long)at ? 0 : err;
}

static long map_gate(void)
{
	long gate = (long)&agent_gate;
	long err = map_own(&agent_returns, sizeof(agent_returns));

	if (!err)
		err = map_own(&agent_gate, AGENT_GATE_SIZE);
	if (err)
		return err;
	return system_call(__NR_madvise, gate, AGENT_GATE_SIZE, MADV_WIPEONFORK,
			   0, 0, 0);
}

/* Returns the descriptor, or a negative errno; then nothing is left open. */
static long map_shared(void)
{
	static const char name[] = "calltrap-agent";
	const long shared = (long)&agent_shared;
	const long size = agent_header.shared_size;
	long fd = system_call(__NR_memfd_create, (long)name,
			      MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0, 0, 0);
	long err;

	if (fd < 0)
		return fd;
	err = system_call(__NR_ftruncate, fd, size, 0, 0, 0, 0);
	if (!err)
		err = system_call(__NR_mmap, shared, size,
				  PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_FIXED, fd, 0);
	if (err == shared)
		return fd;
	system_call(__NR_close, fd, 0, 0, 0, 0, 0);
	return err;
}

/* Whoever has sent it has gone, or another thread is meant by now. */
static bool is_called_off(uint64_t turn)
{
	return turn !=
	       __atomic_load_n(&agent_header.boot_turn, __ATOMIC_ACQUIRE);
}

/*
 * The gate comes first: what has become of the rest is told there. Without it
 * calltrap finds nothing, and gives up. Where it has gone meanwhile, nobody
 * will open the descriptor.
 */
static void map(uint64_t what, uint64_t turn)
{
	long fd;

	if (what == AGENT_BOOT_MAP && map_gate())
		return;
	agent_gate.traps = 1;
	agent_net_spread();
	fd = map_shared();
	agent_gate.boot_result = fd;
	__atomic_store_n(&agent_gate.booted, what, __ATOMIC_RELEASE);
	if (fd >= 0 && is_called_off(turn))
		system_call(__NR_close, fd, 0, 0, 0, 0, 0);
}

/* Calltrap looks whether it is there. */
static void map_page(void)
{
	system_call(__NR_mmap, agent_header.boot_page, AGENT_PAGE_SIZE,
		    PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			    MAP_FIXED_NOREPLACE,
		    -1, 0);
}

/*
 * The program may have closed it, and be using its number for something else.
 * (It still may between the two calls, which nobody can prevent.)
 */
static void close_own(void)
{
	/* The kernel's struct stat: st_dev and st_ino come first. */
	uint64_t file[18];
	const long fd = agent_header.boot_fd;

	if (!system_call(__NR_fstat, fd, (long)file, 0, 0, 0, 0) &&
	    file[0] == agent_header.boot_device &&
	    file[1] == agent_header.boot_inode)
		system_call(__NR_close, fd, 0, 0, 0, 0, 0);
}

void agent_boot_run(uint64_t turn)
{
	const uint64_t what = agent_header.boot_what;

	if (is_called_off(turn))
		return;
	if (what == AGENT_BOOT_MAP || what == AGENT_BOOT_SHARE) {
		map(what, turn);
		return;
	}
	if (what == AGENT_BOOT_PAGE)
		map_page();
	else
		close_own();
	__atomic_store_n(&agent_gate.booted, what, __ATOMIC_RELEASE);
}

#ifdef __clang__
#pragma clang attribute pop
#endif
