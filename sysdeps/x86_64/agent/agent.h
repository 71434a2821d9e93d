/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_AGENT_H
#define CALLTRAP_AGENT_AGENT_H

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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sysdeps/x86_64/agent/layout.h"

/* There is little room. gcc's code is smaller. */
#ifdef __clang__
#define RARE __attribute__((noinline, minsize))
#else
#define RARE __attribute__((noinline, cold))
#endif

#define HIDDEN __attribute__((visibility("hidden")))

extern struct agent_header agent_header HIDDEN;
extern const char agent_end[] HIDDEN;
extern struct agent_gate agent_gate HIDDEN;
extern struct agent_kept agent_kept HIDDEN;
extern struct agent_returns agent_returns HIDDEN;
extern struct agent_shared agent_shared HIDDEN;
extern const char agent_back[] HIDDEN;

_Static_assert(offsetof(struct agent_frame, return_address) ==
			       AGENT_FRAME_RETURN &&
		       AGENT_FRAME_RETURN == 136,
	       "as hook.S has it");
_Static_assert(offsetof(struct agent_stub, original) == AGENT_STUB_ORIGINAL,
	       "as hook.S has it");
_Static_assert(AGENT_BOOTS == 8 && AGENT_BOOT_SIZE == 32 &&
		       AGENT_BOOT_EXIT == 16,
	       "as hook.S has it");
_Static_assert(AGENT_BOOT_SHIFT == 9 &&
		       offsetof(struct agent_boot_room, way) == 416 &&
		       offsetof(struct agent_way, place) == 72 &&
		       offsetof(struct agent_way, exit) == 88 &&
		       offsetof(struct agent_errand, saved) == 64,
	       "as hook.S has it");
_Static_assert(offsetof(struct agent_stub, door) == AGENT_STUB_DOOR,
	       "as hook.S has it");
_Static_assert(offsetof(struct agent_stub, copy) == AGENT_STUB_COPY,
	       "as hook.S has it");
_Static_assert(sizeof(struct agent_stub) == AGENT_STUB_SIZE, "no holes");
_Static_assert(sizeof(struct agent_thread) == 64, "a cache line");
_Static_assert(offsetof(struct agent_thread, tid) == 8 &&
		       offsetof(struct agent_thread, rate) == 36 &&
		       offsetof(struct agent_thread, left) == 40 &&
		       offsetof(struct agent_thread, within) == 48 &&
		       offsetof(struct agent_shared, threads) == 128 &&
		       AGENT_THREADS == 1 << (64 - 54),
	       "as hook.S has it");
_Static_assert(offsetof(struct agent_gate, tid_offset) == 48 &&
		       offsetof(struct agent_gate, rate) == 56,
	       "as hook.S has it");
_Static_assert(offsetof(struct agent_frame, chosen) == 80, "as hook.S has it");
_Static_assert(offsetof(struct agent_frame, slot) == 88, "as hook.S has it");
_Static_assert(AGENT_MARK_LINES == 1 << (64 - 49), "as hook.S has it");
_Static_assert(AGENT_GATE_OFFSET == 0xd000 && AGENT_BOOTS_OFFSET == 0xe000 &&
		       AGENT_KEPT_OFFSET == 0xf000 &&
		       AGENT_RETURNS_OFFSET == 0x10000 &&
		       AGENT_SHARED_OFFSET == 0x120000,
	       "as agent.ld has it");

/* What agent_back has there: registers, and the slot. */
struct agent_result {
	uint64_t others[7];
	uint64_t second;
	uint64_t result;
	uint64_t slot;
};

void agent_begin(struct agent_frame *frame) HIDDEN;
void agent_note(const struct agent_frame *frame) HIDDEN;
unsigned agent_enter(struct agent_frame *frame, uint64_t fp) HIDDEN;
unsigned agent_put_back(const struct agent_frame *frame) HIDDEN;
void agent_come_back(struct agent_result *result) HIDDEN;
void agent_returned(const struct agent_frame *frame) HIDDEN;
unsigned agent_tally(const struct agent_frame *frame) HIDDEN;
unsigned agent_choose(struct agent_frame *frame, uint64_t fp) HIDDEN;
void agent_chosen(const struct agent_frame *frame) HIDDEN;
void agent_boot_run(uint64_t turn) HIDDEN;

static inline uint64_t ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* Behind all that has been done. */
static inline uint64_t ticks_behind(void)
{
	__asm__ volatile("lfence" : : : "memory");
	return ticks();
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
 * Whether a handler has come that has forked, and this is the child. What is shared is
 * its parent's, which has gone on meanwhile: nothing is to be written there any more.
 */
static inline bool is_forked(void)
{
	return __builtin_expect(!READ(patience), 0);
}

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

/*
 * No code of the agent's uses floating-point registers: so these are the caller's, until
 * the original is entered, and the first one is the original's once that has returned.
 */
static inline void keep_floats(struct agent_frame *frame)
{
	uint64_t *floats = frame->floats;

	_Static_assert(AGENT_FLOATS == 4, "as it is done here");
	if (__builtin_expect(agent_floats_of(frame->stub->failure), 0))
		__asm__ volatile("movq %%xmm0, %0\n\t"
				 "movq %%xmm1, %1\n\t"
				 "movq %%xmm2, %2\n\t"
				 "movq %%xmm3, %3"
				 : "=m"(floats[0]), "=m"(floats[1]),
				   "=m"(floats[2]), "=m"(floats[3]));
}

static inline uint64_t float_result(void)
{
	uint64_t bits;

	__asm__ volatile("movq %%xmm0, %0" : "=r"(bits));
	return bits;
}

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

/* How agent_watch goes on. */
enum way { BY_CALL, BY_JUMP, BY_TRAP };

static inline uint64_t argument(const struct agent_frame *frame, unsigned shift)
{
	return frame->arguments[frame->stub->failure >> shift & 3];
}

#endif
