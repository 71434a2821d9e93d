/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_LAYOUT_H
#define CALLTRAP_AGENT_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/*
 * The agent's memory in a traced process, as calltrap and the agent both see
 * it. One reservation, whose parts have their own protection and their own
 * fate in a forked child:
 *
 *	0       code, and the header at its beginning   r-x, private
 *	stubs   one for each function that is caught    r-x, private
 *	gate    whether hooks do anything, and how      rw-, private; zeros in a
 *	                                                forked child
 *	boots   ways in, and stacks to go by            rw-, private; r-x before
 *	kept    what a forked child is to know as well  rw-, private
 *	returns calls whose return address is replaced  rw-, private
 *	shared  threads and their blocks                rw-, shared with calltrap
 *
 * Code and stubs are written by calltrap alone, through /proc/PID/mem. What is
 * shared belongs to the program: nothing in it may be trusted.
 */

#define AGENT_MAGIC   0x746e656761544c43ull /* "CLTagent" */
#define AGENT_VERSION 55

#define AGENT_CODE_SIZE      0x7000
#define AGENT_STUBS_OFFSET   AGENT_CODE_SIZE
#define AGENT_STUB_SIZE      128
#define AGENT_STUBS          192
#define AGENT_GATE_OFFSET    (AGENT_STUBS_OFFSET + AGENT_STUBS * AGENT_STUB_SIZE)
#define AGENT_GATE_SIZE      0x1000
#define AGENT_BOOTS_OFFSET   0xe000
#define AGENT_KEPT_OFFSET    0xf000
#define AGENT_KEPT_SIZE      0x1000
#define AGENT_RETURNS_OFFSET 0x10000
#define AGENT_SHARED_OFFSET  0x120000
#define AGENT_ARGUMENTS      6
#define AGENT_FLOATS         4 /* in floating-point registers, beside these */
#define AGENT_CAPTURES       3
#define AGENT_CAPTURE_MOST   256 /* bytes of each */

/* What calltrap finds at the beginning of the code, and what it fills in. */
#define AGENT_BOOTS     8  /* turns; each is entered … */
#define AGENT_BOOT_SIZE 32 /* … so far behind the one before, … */
#define AGENT_BOOT_EXIT 16 /* … and left so far behind that */

struct agent_header {
	uint64_t magic;
	uint32_t version;
	uint32_t boot;      /* offset of the code that maps the rest */
	uint32_t hook;      /* offset of what stubs jump to */
	uint32_t code_size; /* of the image */
	uint32_t errand;    /* offsets of code to be copied elsewhere, and of
				 its end, where struct agent_errand follows */
	uint32_t errand_end;
	uint32_t watch;   /* as .hook, where calls are watched */
	uint32_t sample;  /* … some of them, … */
	uint32_t release; /* … which gives back the first argument */
	uint32_t unwind;  /* … of functions that walk over stacks */
	uint32_t back;    /* what stands for replaced return addresses */
	uint32_t filter;  /* … of calls of one module alone */
	uint32_t tally; /* … where calls are counted when they begin, no more */
	uint32_t record; /* … where what is recorded when it has returned is noted
			    before */
	uint32_t acquire; /* as .sample, of what can be told by its size alone */
	uint32_t unused;
	/* The following is set before boot is entered. */
	uint64_t boot_what;   /* enum agent_boot */
	uint64_t shared_size; /* of what is to be shared; 0: nothing */
	uint64_t boot_fd;     /* CLOSE: which, … */
	uint64_t boot_device; /* … if it is still this file */
	uint64_t boot_inode;
	uint64_t boot_page; /* PAGE: where */
	uint64_t boot_turn; /* who was sent in another one does nothing */
};

/* Registers of who is sent that a function needn't keep. */
struct agent_saved {
	uint64_t rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11;
};

/* Calltrap writes it before the turn is taken. */
struct agent_way {
	struct agent_saved saved;
	uint64_t place; /* where it goes on */
	uint64_t mask;  /* signals that it blocks, meanwhile */
	uint64_t exit;
};

/* Of one turn. No signal is handled there. */
#define AGENT_BOOT_SHIFT 9

struct agent_boot_room {
	uint8_t stack[(1 << AGENT_BOOT_SHIFT) - sizeof(struct agent_way)];
	struct agent_way way;
};

/*
 * Where a hook has called the original it stands behind one of these (call *.original
 * of the stub), and so far above its stack pointer lies what it returns to.
 */
#define AGENT_CALL                                    \
	{                                             \
		0x41, 0xff, 0x53, AGENT_STUB_ORIGINAL \
	}
#define AGENT_FRAME_RETURN 136

struct agent_stub;

/* What the hook has there; the return address follows. */
struct agent_frame {
	uint64_t arguments[6];
	const struct agent_stub *stub;
	uint64_t began;
	uint64_t result;
	uint64_t second_result;
	union {
		uint64_t chosen; /* SAMPLES: the thread, and enum chosen_bits */
		uint64_t outer; /* RECORDS: the slot of the one that it is within,
				    see struct agent_thread; or 0 */
	};
	uint64_t slot;    /* where the return address lies on the stack */
	uint64_t entered; /* end_of_entry() of its own; 0: it has none */
	uint64_t floats[AGENT_FLOATS]; /* as many as its stub says */
	uint64_t return_address; /* … or what stands for it, see caller_of() */
};

/* Of what is mapped for jumps over functions' first bytes, each time. */
#define AGENT_PAGE_SIZE 0x2000

/* One system call, and where to go on. */
struct agent_errand {
	uint64_t number;
	uint64_t arguments[6];
	uint64_t place;
	struct agent_saved saved;
};

enum agent_boot {
	AGENT_BOOT_MAP = 1, /* gate and shared memory */
	AGENT_BOOT_SHARE,   /* the latter alone, where an old one lies: the rest
			       was left behind by a calltrap that is gone */
	AGENT_BOOT_CLOSE,   /* a descriptor: calltrap has its own by now */
	AGENT_BOOT_PAGE,    /* for trampolines */
	AGENT_BOOT_NET,     /* the handler of SIGTRAP, once more */
};

/* Beside the first two: the descriptor is closed at once, as calltrap opens its own
   while the thread stands at that call. It is made whatever has become of the rest. */
#define AGENT_BOOT_AT_ONCE 16

/*
 * One function that is caught: the first two members are code. It lies in
 * memory that the program can't write and that a forked child keeps, so a hook
 * finds its way to the original whatever has become of the rest.
 */
#define AGENT_STUB_ORIGINAL 16 /* offset of original, for assembly, … */
#define AGENT_STUB_DOOR     48 /* … and of door */
#define AGENT_STUB_COPY     72 /* … and of copy */
#define AGENT_PATCH_SIZE    5

struct agent_stub {
	uint8_t code[16];  /* loads its own address, jumps to the hook */
	uint64_t original; /* where the function goes on: itself, or copy */
	uint64_t function; /* where it begins, and was called */
	uint32_t index;
	uint8_t arguments;                /* how many are recorded */
	uint8_t captures[AGENT_CAPTURES]; /* AGENT_CAPTURE_USED | …, or 0 */
	uint32_t failure; /* enum agent_failure, and AGENT_WIDE */
	uint32_t used;
	/* Where the trap is that tells what can't be told from here. */
	uint64_t door;
	uint64_t trampoline; /* struct agent_trampoline, or 0; … */
	uint8_t before[8]; /* … AGENT_PATCH_SIZE bytes that its jump replaces */
	uint8_t copy[56]; /* its first instruction, and a jump behind that */
};

/*
 * In the place of the copy, of a stub that only passes on: calls that return to this
 * range go on at .original, others at .door.
 */
struct agent_callers {
	uint64_t low, size;
};

/*
 * Near a function that is called directly: a jump over its first bytes leads
 * here. Written once, before anything leads there.
 */
struct agent_trampoline {
	uint8_t jump[16]; /* to the stub */
	uint8_t copy[80]; /* of the first instructions, and a jump behind them */
	uint8_t door[8];  /* a jump to the copy, for a trap to stand on */
	uint8_t unused[24];
};

/*
 * Memory that is recorded as well: which argument, or the result, leads there
 * (null pointers and the like don't), and how much of it may be looked at. By
 * itself, what lies in the page of its first byte.
 */
#define AGENT_CAPTURE_WHICH  7
#define AGENT_CAPTURE_GONE   6 /* it lay where nothing is any more */
#define AGENT_CAPTURE_MOVED  6 /* the second, which lies at the first now */
#define AGENT_CAPTURE_RESULT 7 /* no argument; without TEXT: four bytes … */
#define AGENT_CAPTURE_TEXT   8 /* up to a NUL */
#define AGENT_CAPTURE_ALL    16 /* … whatever pages it lies in (… or dirent) */
#define AGENT_CAPTURE_BY_2   32 /* no more than the second argument says */
#define AGENT_CAPTURE_BY_3 \
	64 /* … the third; of a result: nothing if that is 0 */
#define AGENT_CAPTURE_USED 128

/* Instead: what the function has written, as many bytes as its result says, and the
   third argument has room for … */
#define AGENT_CAPTURE_BY_RESULT (AGENT_CAPTURE_BY_2 | AGENT_CAPTURE_BY_3)
/* … or none, if the fourth argument has MSG_TRUNC … */
#define AGENT_CAPTURE_RECEIVED (AGENT_CAPTURE_BY_RESULT | AGENT_CAPTURE_ALL)
/* … or structs epoll_event. */
#define AGENT_CAPTURE_EVENTS (AGENT_CAPTURE_BY_RESULT | AGENT_CAPTURE_TEXT)
/* … or so many of the size that the second argument says. */
#define AGENT_CAPTURE_ITEMS (AGENT_CAPTURE_EVENTS | AGENT_CAPTURE_ALL)
#define AGENT_EVENT_SIZE    12

/* A text, where what the one before has captured leads to: that is an argument's first
   word, if there is nothing but USED. With ALL: whole, if the result isn't negative. */
#define AGENT_CAPTURE_BEHIND \
	(AGENT_CAPTURE_USED | AGENT_CAPTURE_TEXT | AGENT_CAPTURE_MOVED)
#define AGENT_PIECE_BEHIND 8 /* as agent_record_piece() has it */

/* LOOKS_FIRST: all but what the call itself leaves behind. */
static inline int agent_is_looked_at_first(unsigned capture)
{
	return capture & (AGENT_CAPTURE_TEXT | AGENT_CAPTURE_ALL) &&
	       (capture & AGENT_CAPTURE_WHICH) < AGENT_ARGUMENTS &&
	       (capture & AGENT_CAPTURE_BY_RESULT) != AGENT_CAPTURE_BY_RESULT;
}

/* Which results are failures: ints, or with AGENT_WIDE 64 bits. */
enum agent_failure {
	AGENT_FAILS_NEVER,
	AGENT_FAILS_MINUS_ONE,
	AGENT_FAILS_POINTER, /* 0 or -1 */
	AGENT_FAILS_ZERO,
	AGENT_FAILS_NEGATIVE,
	AGENT_FAILS_NONZERO,
};

#define AGENT_WIDE 0x100

/* Watched calls: nobody wants to know of the return. Beside the failure. */
#define AGENT_ENTRY_ONLY 0x200

/* … it has stored a pointer where its first argument says, if it returns 0. */
#define AGENT_STORES 0x400

/* The call may end by an exception: its return address is replaced. */
#define AGENT_REPLACES 0x800

/* REPLACES: what its arguments lead to is copied before it begins. */
#define AGENT_LOOKS_FIRST 0x80000

/* No call is told of: it walks over the stack, whose returns are put back. */
#define AGENT_WALKS 0x40000

/* So many arguments in floating-point registers are recorded; and whether the result
   lies in one, of which no failure can be told. */
#define AGENT_FLOATS_SHIFT 20
#define AGENT_FLOAT_RESULT 0x800000

static inline unsigned agent_floats_of(uint32_t failure)
{
	return failure >> AGENT_FLOATS_SHIFT & 7;
}

/*
 * WATCHES: calls of one group within each other are one, and nobody is told of the inner
 * ones. 0: none. The highest bits.
 */
#define AGENT_GROUP_SHIFT 24

/* Of the above, what says which results are failures. */
#define AGENT_FAILURE 0xff

/*
 * Watched calls of which some are chosen: what they do, and which arguments
 * hold the size that they ask for (the second is a factor of it). What a resize
 * or a release gives back is the first argument.
 */
enum agent_act {
	AGENT_NO_ACT,
	AGENT_ACQUIRES,
	AGENT_RELEASES,
	AGENT_RESIZES,
};

#define AGENT_ACT_SHIFT    12
#define AGENT_SIZE_SHIFT   14
#define AGENT_FACTOR_SHIFT 16
#define AGENT_NO_ARGUMENT  3

static inline uint32_t agent_act(enum agent_act act, unsigned size,
				 unsigned factor)
{
	return (uint32_t)act << AGENT_ACT_SHIFT | size << AGENT_SIZE_SHIFT |
	       factor << AGENT_FACTOR_SHIFT;
}

/* Private to the process, and zeros in a forked child. */
struct agent_gate {
	uint64_t on;       /* hooks look at nothing else while this is 0 */
	uint64_t mode;     /* AGENT_COUNTS | … */
	uint64_t patience; /* how many ticks old the last sign of life of
				 calltrap may be */
	uint64_t blocks;   /* offset of the first, in what is shared */
	uint64_t block_size;
	uint64_t ring_words; /* a power of two; 0: there are none */
	int64_t tid_offset; /* of the thread's number, from the thread pointer; 0:
			       not known */
	/* SAMPLES: how often .mean is doubled: it may change while hooks run. */
	uint64_t rate;
	int64_t errno_offset;   /* likewise */
	uint64_t capture_bytes; /* no more of each; AGENT_CAPTURE_MOST or less */
	uint64_t depth; /* so many frames of each watched call's stack */
	uint64_t mean;  /* SAMPLES: bytes from one mark to the next */
	/* What boot has done. */
	uint64_t booted;     /* enum agent_boot */
	int64_t boot_result; /* descriptor, or a negative errno */
	uint64_t since;      /* ticks: nobody was told of what began before */
};

/* Private to the process, and copied into a forked child. */
struct agent_kept {
	uint64_t traps; /* calltrap's may stand: it has come, and not left */
	/* What the program does about SIGTRAP itself: the kernel's struct sigaction. */
	uint64_t before[4];
};

/* si_errno of an int3 that calltrap has seen, and that isn't its own. */
#define AGENT_SEEN 0x63616c6c

_Static_assert(AGENT_GATE_OFFSET + AGENT_GATE_SIZE <= AGENT_BOOTS_OFFSET &&
		       AGENT_BOOTS_OFFSET +
				       AGENT_BOOTS *
					       sizeof(struct agent_boot_room) ==
			       AGENT_KEPT_OFFSET &&
		       AGENT_KEPT_OFFSET + AGENT_KEPT_SIZE ==
			       AGENT_RETURNS_OFFSET,
	       "one mapping has them and what follows");

#define AGENT_COUNTS    1 /* counters are kept */
#define AGENT_DURATIONS 2 /* … and how many calls took how long */
#define AGENT_RECORDS   4 /* each call is written to the thread's ring */
#define AGENT_WAITS     8 /* … as soon as there is room, while calltrap lives */
#define AGENT_WATCHES   16  /* … its entry, with its stack, and its return */
#define AGENT_STACKS    32  /* RECORDS: its stack is written when it begins */
#define AGENT_SAMPLES   64  /* WATCHES: some, that are chosen in the process */
#define AGENT_STOPS     128 /* WATCHES: what acquires is told of at its trap */

/*
 * Of one thread; found by its thread pointer. A cache line. Another thread may
 * have the same pointer later: it takes the entry over by changing the number,
 * and so does calltrap that gives the block of one that has ended to others.
 */
struct agent_thread {
	uint64_t pointer; /* what lies at fs:0; 0: free */
	uint32_t tid;     /* 0: not known */
	uint32_t block;   /* 0: none, see agent_shared */
	/* Where its stack lies, as far as it may be read; of this thread: */
	uint64_t stack_low, stack_high;
	uint32_t stack_tid;
	/* SAMPLES: */
	uint32_t rate; /* the one that .left is of */
	uint64_t left; /* one more than bytes before the next mark; 0: nobody
			  has thrown the dice */
	/* The slot of the call that stands for all within it: SAMPLES; or WATCHES:
	   agent_stands_for(), of one whose return was replaced, and that may be over.
	   RECORDS: of the innermost that will be recorded when it has returned; or
	   AGENT_NEST_TOLD: it has been told of. 0: there is none. */
	uint64_t within;
	uint64_t trapped; /* agent_trapped() of one that goes by the trap; 0:
			     there is none */
};

/* Its place among the threads, or soon behind that. */
static inline unsigned agent_thread_home(uint64_t pointer)
{
	return (pointer >> 6) * 0x9e3779b97f4a7c15ull >> 54;
}

/* Of a call, whether what it acquires is kept. */
enum agent_choice {
	AGENT_CHOICE_OPEN,
	AGENT_CHOICE_KEPT,
	AGENT_CHOICE_LEFT, /* … but it gives back what was */
};

/* … and at which rate that was. */
#define AGENT_RATES 32

/* A return address's slot, which ends in zeros, and what was chosen. */
static inline uint64_t agent_trapped(uint64_t slot, enum agent_choice choice,
				     unsigned rate)
{
	return slot | (uint64_t)choice | (uint64_t)rate << 56;
}

static inline uint64_t agent_trapped_slot(uint64_t trapped)
{
	return trapped & 0x00fffffffffffff8;
}

static inline enum agent_choice agent_trapped_choice(uint64_t trapped)
{
	return (enum agent_choice)(trapped & 3);
}

static inline unsigned agent_trapped_rate(uint64_t trapped)
{
	return (unsigned)(trapped >> 56) % AGENT_RATES;
}

/*
 * Whether a call lies within the one that thread->within says. No allocator
 * needs more stack, nor do others that are called by the agent: who is far below came
 * there after a handler has jumped out of that call.
 */
#define AGENT_WITHIN_MOST 0x10000

static inline int agent_is_within(uint64_t within, uint64_t slot)
{
	return within - slot - 1 < AGENT_WITHIN_MOST;
}

/* Of that one's stub. */
static inline uint64_t agent_stands_for(uint64_t slot, uint32_t failure)
{
	return slot ^ (uint64_t)(failure >> AGENT_GROUP_SHIFT) << 56;
}

/*
 * Of calls that the thread is within, as far as they have begun by their clock. One that
 * is reading it finds 0 instead when that was over, and reads it anew: what has been told of
 * meanwhile came before.
 */
#define AGENT_NEST_TOLD 1

#define AGENT_RELEASED UINT32_MAX /* a tid: calltrap is about to free it */

#define AGENT_THREADS 1024
#define AGENT_OFFERS  16
#define AGENT_PROBING 64 /* how many entries are looked at for a thread */

/*
 * Where a frame's caller is found, by the address that the frame returns to.
 * Open addressing; one that isn't there is added when it is missed.
 */
struct agent_row {
	uint64_t address; /* 0: none. Written last */
	uint64_t rule;    /* agent_rule() */
};

#define AGENT_ROWS        16384
#define AGENT_ROW_PROBING 64 /* most are found at once */

enum agent_rule_bits {
	AGENT_RULE_OUTERMOST = 1, /* nobody has called it */
	AGENT_RULE_BY_FP = 2,     /* the offset is from the frame pointer */
	AGENT_RULE_IN_MEMORY = 4, /* the frame's end is what lies there */
	AGENT_RULE_FP_SAVED = 8,  /* the caller's frame pointer lies … */
	AGENT_RULE_FP_UNKNOWN = 16,
	AGENT_RULE_BY_CHAIN = 32, /* no tables: at the frame pointer lies the
				     caller's, above it the return address */
	AGENT_RULE_SWITCHES = 64, /* … maybe on another stack than a thread's */
};

/*
 * Where Go has called C's functions: how near the caller's frame must lie to where that
 * is noted to have called, within so many words of the stack; and how deep stacks are.
 */
#define AGENT_GO_NEAR         512
#define AGENT_GO_NOTED_WITHIN 64
#define AGENT_GO_DEPTH_MAX    (UINT64_C(1) << 30)

/* Frames of such code that are further apart are none. */
#define AGENT_FRAME_MAX (1u << 24)

/* fp_offset: … so far from the frame's end. It has 24 bits. */
static inline uint64_t agent_rule(unsigned bits, int32_t offset,
				  int32_t fp_offset)
{
	return bits | (uint64_t)((uint32_t)fp_offset & 0xffffff) << 8 |
	       (uint64_t)(uint32_t)offset << 32;
}

static inline int64_t agent_rule_offset(uint64_t rule)
{
	return (int32_t)(rule >> 32);
}

static inline int64_t agent_rule_fp_offset(uint64_t rule)
{
	return (int32_t)((uint32_t)rule & 0xffffff00) >> 8;
}

static inline unsigned agent_row_home(uint64_t address)
{
	return address * 0x9e3779b97f4a7c15ull >> 50;
}

/*
 * Rules for all of a module's code, where many are missed: spans by their offset in the
 * module, each up to the next one, and for every AGENT_STRIDE bytes the last span that
 * begins there, or before. They are for addresses of calls. What comes by a row as well
 * has the same rule there.
 */
struct agent_table {
	uint64_t low;
	uint64_t high;   /* written last; 0: none */
	uint32_t stride; /* the first one */
	uint32_t unused;
};

struct agent_span {
	uint32_t offset;
	uint32_t rule; /* 0: none */
};

/*
 * What was found there lately, by home of the address: all threads write to it, and one
 * may have the other's half. So the first word has both, and the era, in it: halves that
 * don't belong together lead nowhere.
 */
struct agent_found {
	uint64_t both; /* agent_found_word() */
	uint64_t rule;
};

static inline uint64_t agent_found_word(uint64_t address, uint64_t rule,
					uint64_t era)
{
	return address ^ rule ^ (era + 1) * 0xd6e8feb86659fd93ull;
}

#define AGENT_TABLES      8
#define AGENT_SPANS       (1u << 20) /* 8 MiB */
#define AGENT_SPAN_RULES  8192
#define AGENT_STRIDE_BITS 8
#define AGENT_STRIDES     (1u << 19) /* of 128 MiB of code */

struct agent_tables {
	struct agent_table tables[AGENT_TABLES];
	struct agent_found found[AGENT_ROWS];
	uint64_t rules[AGENT_SPAN_RULES]; /* agent_rule(); the first is 0 */
	uint32_t strides[AGENT_STRIDES];
	struct agent_span spans[AGENT_SPANS];
};

/*
 * Memory that can be read, as calltrap has found in the process's mappings: each that
 * a call's argument has led to, by the address's part of all memory. It may be gone
 * since. What isn't there has the call go by its trap, and is added.
 */
struct agent_range {
	uint64_t low; /* written last, and first, when it is none for a while */
	uint64_t high;
};

#define AGENT_RANGES        128
#define AGENT_RANGE_WAYS    2
#define AGENT_RANGE_NOTHING UINT64_MAX

static inline unsigned agent_range_home(uint64_t address)
{
	return ((address >> 21) * 0x9e3779b97f4a7c15ull >> 58) *
	       AGENT_RANGE_WAYS;
}

/*
 * SAMPLES: addresses of the blocks that were kept, so that of all releases only
 * theirs are told. A hash table of cache lines: blocks of one page have one, as
 * that is where the program is busy. What has no place there lies in one of the
 * next lines, and is counted in its own. An address that stays there for nothing
 * costs a record when somebody releases another block of that address, no more.
 */
#define AGENT_MARKS        7
#define AGENT_MARK_LINES   32768 /* 2 MiB in all */
#define AGENT_MARK_PROBING 16

struct agent_mark_line {
	uint64_t elsewhere; /* so many of its own lie in others */
	uint64_t marks[AGENT_MARKS];
};

static inline unsigned agent_mark_home(uint64_t address)
{
	return (address >> 12) * 0x9e3779b97f4a7c15ull >> 49;
}

/*
 * Before a line is looked at, how many blocks have it for their own, wherever they lie:
 * mostly none, and all of these numbers stay in a processor's caches.
 */
#define AGENT_MARKED_MOST \
	UINT8_MAX /* or more: then nobody counts any further */

struct agent_marks {
	struct agent_mark_line lines[AGENT_MARK_LINES];
	uint8_t marked[AGENT_MARK_LINES];
};

#define AGENT_MARKS_OFFSET  329920 /* for assembly */
#define AGENT_MARKED_OFFSET (AGENT_MARKS_OFFSET + 64 * AGENT_MARK_LINES)

/*
 * Calls whose return address something else stands for: found by where that
 * lies on the stack, as a coroutine may go on in another thread. Private to the
 * process: a forked child returns by its copy.
 */
struct agent_return {
	uint64_t arguments[AGENT_ARGUMENTS];
	uint64_t stub, began, chosen;
	uint64_t address; /* what lay there: it goes on with that … */
	uint64_t caller;  /* … which is this, or a tail caller's return */
	uint64_t thread;  /* pointer of the one that called */
	uint64_t level;   /* so many tail callers have the same place */
	/* The thread's stack then: who is on it knows that all of it up to the
	   slot is there. 0, 0: not known. */
	uint64_t stack_low, stack_high;
	uint64_t entered; /* as in struct agent_frame, once that is written */
};

#define AGENT_RETURNS     8192
#define AGENT_RETURN_WAYS 8 /* a place has so many, in one cache line */

/*
 * Who walks puts back those of others, too, that lie so near: a coroutine's stack may
 * have begun in another thread; few are larger.
 */
#define AGENT_NEAR (1u << 20)

/* Beside a slot, whose address ends in zeros. */
enum agent_return_state {
	AGENT_RETURN_NEW = 1, /* the slot isn't written yet */
	AGENT_RETURN_SET,
	AGENT_RETURN_CLAIMED, /* somebody puts the address back … */
	AGENT_RETURN_STUCK,   /* … and hasn't come to an end: nobody waits */
	AGENT_RETURN_STATES = 7,
};

struct agent_returns {
	uint64_t slots[AGENT_RETURNS]; /* 0: free */
	struct agent_return list[AGENT_RETURNS];
};

static inline unsigned agent_return_home(uint64_t slot)
{
	return (slot >> 3) * 0x9e3779b97f4a7c15ull >> 54 << 3;
}

_Static_assert(AGENT_RETURNS / AGENT_RETURN_WAYS == 1 << (64 - 54) &&
		       AGENT_RETURN_WAYS == 1 << 3,
	       "as agent_return_home() has it");
_Static_assert(AGENT_RETURNS_OFFSET + sizeof(struct agent_returns) <=
		       AGENT_SHARED_OFFSET,
	       "it has its place");

/*
 * Block 0 belongs to all threads that have no own one: they count there, and
 * have no ring.
 *
 * All of this may be replaced by zeros while a thread is at work in it: when
 * another calltrap takes over, or when memory is given back.
 */
struct agent_shared {
	uint64_t beat;     /* calltrap's sign of life: the time stamp counter */
	uint64_t dropped;  /* records of threads without a ring */
	uint64_t more;     /* blocks will be offered when these are taken */
	uint64_t dice;     /* SAMPLES: the state of random numbers */
	uint64_t unmarked; /* … blocks for which there was no place */
	uint64_t closed;   /* how often hooks have closed the gate */
	/* Memory with stacks that are no thread's own: goroutines'. */
	uint64_t other_low, other_high;
	uint32_t offers[AGENT_OFFERS]; /* blocks for who has none; 0: none */
	struct agent_thread threads[AGENT_THREADS];
	uint64_t rows_era; /* odd while rows are taken out */
	/* WATCHES: whose thread alone has recorded for a while: its block, and
	   above that which grant it is; 0: none's. See stamps.h. */
	uint64_t sole;
	uint64_t unused_too[6];
	struct agent_range ranges[AGENT_RANGES];
	struct agent_row rows[AGENT_ROWS];
	struct agent_marks marks;
	struct agent_tables code;
};

_Static_assert(offsetof(struct agent_shared, marks) == AGENT_MARKS_OFFSET &&
		       offsetof(struct agent_shared, marks.marked) ==
			       AGENT_MARKED_OFFSET,
	       "as hook.S has it");

/* One return of so many is measured: any, so what repeats is no matter. */
#define AGENT_MEASURED 64

/*
 * Of one function in one block. Where calls are counted when they begin, and nothing
 * else is done (STUB_TALLIES), those that are chosen at random go by the trap instead,
 * which tells of them, and they aren't counted here.
 */
struct agent_counter {
	uint64_t calls;
	union {
		struct {
			uint64_t failed;
			uint64_t ticks;
			uint64_t longest;
		};
		struct {
			uint64_t next; /* the call that is chosen, as .calls counts
					  them; 0: that is to be drawn */
			uint64_t drawn; /* … the rate then */
			uint64_t rate; /* block 0: calltrap wants one of so many
					   calls, as a power of two */
		};
	};
};

/*
 * Durations in ticks by powers of two that are cut into equal parts; those
 * below AGENT_PARTS have one each.
 */
#define AGENT_PARTS   32
#define AGENT_OCTAVES 40

struct agent_histogram {
	uint32_t counts[AGENT_OCTAVES][AGENT_PARTS];
};

/*
 * A walk over a stack, and all that it has read there: who calls from the same
 * place of the stack, and finds the same words, would come to the same frames.
 */
#define AGENT_WALK_WORDS 96
#define AGENT_WALK_STEP  4 /* so many words are compared in a row */

struct agent_walk {
	uint64_t number; /* 0: none */
	uint64_t address, slot;
	uint64_t fp; /* when it began, .by_fp: which has been used */
	uint64_t era, depth;
	uint32_t count; /* a multiple of AGENT_WALK_STEP: the last one is repeated */
	uint32_t by_fp;
	uint64_t reach;                /* no .at is larger */
	uint16_t at[AGENT_WALK_WORDS]; /* in words from the slot on */
	uint64_t words[AGENT_WALK_WORDS];
};

_Static_assert(AGENT_WALK_WORDS % AGENT_WALK_STEP == 0, "whole steps");

#define AGENT_KEPT_BITS  7
#define AGENT_KEPT_WALKS (1u << AGENT_KEPT_BITS)
#define AGENT_WALK_BUSY  UINT64_MAX /* it is under way, or was left for ever */

/* It lies there, or in the place beside: agent_walk_beside(). */
static inline unsigned agent_walk_home(uint64_t address, uint64_t slot)
{
	return (address ^ slot << 16) * 0x9e3779b97f4a7c15ull >>
	       (64 - AGENT_KEPT_BITS);
}

static inline unsigned agent_walk_beside(unsigned home)
{
	return home ^ 1;
}

#define AGENT_DEPTH_MAX 128 /* of frames */

/*
 * The frames of a walk that was told of, the outermost first. The next one mostly has the
 * outer ones of it, which aren't told again.
 */
struct agent_told {
	uint64_t name; /* of that walk; or 0, or AGENT_WALK_BUSY */
	uint64_t era;
	uint64_t count;
	uint64_t unused[5];
	uint64_t frames[AGENT_DEPTH_MAX];
};

/*
 * Positions of a ring at which calltrap waits no longer for a record to become whole. Who
 * finishes it after all sees that there, takes its first word away, and writes it anew;
 * or calltrap has marked that one before (AGENT_TAKEN).
 */
struct agent_gap {
	uint64_t from, to;
};

#define AGENT_GIVEN_UP 8

/*
 * A block; the ring follows. Positions in that only ever grow, whoever has the
 * block.
 */
struct agent_block {
	uint64_t head;          /* words ever reserved in the ring … */
	uint64_t dropped;       /* records that found no room */
	uint64_t sampled;       /* calls of which it was measured … */
	uint64_t sampled_ticks; /* … what the hook itself took */
	uint64_t waited_ticks;  /* for room */
	uint64_t waiting;       /* for it now: the thread's number; 0: nobody */
	uint64_t told_ticks;    /* SAMPLES: of all hooks that told of a call */
	uint64_t walked;        /* the number of the last walk */
	uint64_t tail;          /* … and read */
	uint64_t turned_ticks;  /* of waited_ticks: on a processor */
	uint64_t compared;      /* walks: by the call with that slot; or 0 */
	uint64_t given_up_to;   /* what lies before that may be … */
	uint64_t sole; /* the grant under which .read was read; or an old one */
	uint64_t read; /* the clock, for it; even, as AGENT_TIMED says */
	uint64_t unused_too[2];
	struct agent_gap given_up[AGENT_GIVEN_UP]; /* … one of these */
	struct agent_counter counters[AGENT_STUBS];
	struct agent_walk walks[AGENT_KEPT_WALKS];
	struct agent_told told;
	uint64_t ring[]; /* or histograms, where there are durations */
};

/* AGENT_STUBS of them. What is counted isn't recorded. */
static inline struct agent_histogram *
agent_histograms(const struct agent_block *block)
{
	return (struct agent_histogram *)(uintptr_t)block->ring;
}

/*
 * A record in a ring: words of 8 bytes, at positions that count up and are
 * taken modulo the ring's size. The first word is written last; that it holds
 * its own position says that the record is whole, so nobody clears anything.
 */
#define AGENT_RECORD_FIXED 7
#define AGENT_PIECE_WORDS  (AGENT_CAPTURES * (1 + AGENT_CAPTURE_MOST / 8))
#define AGENT_RECORD_WORDS                                     \
	(AGENT_RECORD_FIXED + AGENT_ARGUMENTS + AGENT_FLOATS + \
	 AGENT_PIECE_WORDS)

enum agent_record_word {
	AGENT_WORD_HEADER, /* agent_record_header() */
	AGENT_WORD_BEGAN,  /* ticks */
	AGENT_WORD_ENDED,
	AGENT_WORD_STUB,   /* agent_record_stub() */
	AGENT_WORD_RETURN, /* the caller's return address … */
	AGENT_WORD_SLOT,   /* … and where it lies on the stack */
	AGENT_WORD_RESULT,
};

/*
 * The stub's index; how many arguments follow; errno, if the call has failed;
 * the thread's number.
 */
static inline uint64_t agent_record_stub(uint32_t stub, uint32_t arguments,
					 uint32_t error, uint32_t tid)
{
	return (stub & 0xff) | (arguments & 0xff) << 8 |
	       (uint64_t)(error & 0xffff) << 16 | (uint64_t)tid << 32;
}

/* … and behind them these, in what says how many arguments there are. */
#define AGENT_FLOATS_BIT 3

static inline uint32_t agent_arguments_bits(unsigned arguments, unsigned floats)
{
	return arguments | floats << AGENT_FLOATS_BIT;
}

static inline unsigned agent_arguments_in(uint64_t stub)
{
	return (stub >> 8) & 7;
}

static inline unsigned agent_floats_in(uint64_t stub)
{
	return (stub >> (8 + AGENT_FLOATS_BIT)) & 7;
}

/* Instead of an errno: that is what the result is, which says nothing of failure. */
#define AGENT_IS_FLOAT 0x8000

/* Instead of a number of arguments: an entry, see below, among the records. */
#define AGENT_IS_ENTRY 0x80

/* Beside either: it is within a call that isn't recorded yet. */
#define AGENT_IS_INNER 0x40

/*
 * How the agent reads what may be gone: movzbl (%rcx), %eax or movq (%rcx), %rax, and a
 * nopl behind it with a number that says so. Calltrap knows a fault there by that, and
 * has it go on behind, with 0 in rcx.
 */
#define AGENT_PEEK_SIZE 10
#define AGENT_PEEK_MARK 0x6b656570

/*
 * Behind the arguments: pieces of memory. The first word of each says which
 * argument (or AGENT_CAPTURE_RESULT) leads there, and how many bytes follow.
 */
static inline uint64_t agent_record_piece(uint64_t which, uint64_t bytes)
{
	return which << 16 | bytes;
}

/*
 * Of watched calls there are two: the entry, behind which arguments and frames
 * follow, the innermost first, and agent_walk_name(); and the return. Of one that is
 * recorded with its stack, or REPLACES, the record is the return; the entry of the
 * former comes without arguments.
 *
 * Two are shorter, as they are nearly all: an entry whose frames were told before
 * (KNOWN) has that name instead of them, of its slot and of its value, as calls from
 * another place have another; its arguments follow, and pieces of memory, of how many
 * words agent_watch_kind_bits() says. A return right behind its own
 * entry (FOLLOWS) has its result instead of the slot, and nothing else.
 */
enum agent_watch_word {
	AGENT_WATCH_HEADER,
	AGENT_WATCH_TIME,  /* ticks */
	AGENT_WATCH_SLOT,  /* where the return address lies */
	AGENT_WATCH_STUB,  /* agent_record_stub(); the second: which of them */
	AGENT_WATCH_VALUE, /* entry: how many frames, AGENT_COMPLETE,
			      AGENT_TAIL_CALL, agent_choice_bits(), and how
			      many words of pieces are at its end;
			      return: the result, and one more word: the
			      return address */
	AGENT_WATCH_FIXED,
};

/*
 * In the time of an entry: the clock was read for it, and will be for its return. Who is
 * alone has the times of before for the others: a few calls, or a sign of life, ago.
 */
#define AGENT_TIMED 1u

/* One call of so many is timed then. */
#define AGENT_TIMED_OF 16

#define AGENT_WATCH_NAME   AGENT_WATCH_SLOT  /* KNOWN */
#define AGENT_WATCH_RESULT AGENT_WATCH_SLOT  /* FOLLOWS */
#define AGENT_WATCH_SHORT  AGENT_WATCH_VALUE /* words of these two */

/* What is among the records is told from them by that word. */
_Static_assert((int)AGENT_WATCH_STUB == (int)AGENT_WORD_STUB, "in both");

enum agent_watch_kind {
	AGENT_WATCH_ENTRY = 1,
	AGENT_WATCH_RETURN,
	AGENT_WATCH_UNMARKED, /* a return; what it acquired could not be marked */
	AGENT_WATCH_KNOWN,    /* an entry, of whose frames the walk is known */
	AGENT_WATCH_FOLLOWS, /* a return, of the entry right before */
};

/* Which of them it is, as agent_record_stub() has it; pieces: KNOWN. */
static inline uint32_t agent_watch_kind_bits(enum agent_watch_kind kind,
					     unsigned pieces)
{
	return (uint32_t)kind | pieces << 8;
}

_Static_assert(AGENT_PIECE_WORDS < 0x100, "so many");

/* … and, of one that stores, where and what. */
#define AGENT_WATCH_RETURN_WORDS (AGENT_WATCH_FIXED + 1)
#define AGENT_WATCH_STORED_WORDS (AGENT_WATCH_FIXED + 3)

/* Where a walk is remembered, and which it is; 0: it isn't. */
static inline uint64_t agent_walk_name(unsigned at, uint64_t number)
{
	return number << AGENT_KEPT_BITS | at;
}

#define AGENT_COMPLETE  0x10000 /* that was the thread's first function */
#define AGENT_TAIL_CALL 0x20000 /* it returns for its caller, too */
#define AGENT_TOLD      0x40000 /* its frames are struct agent_told's from now on */

static inline uint64_t agent_choice_bits(enum agent_choice choice,
					 unsigned rate)
{
	return (uint64_t)choice << 20 | (uint64_t)rate << 24;
}

static inline uint64_t agent_pieces_bits(unsigned words)
{
	return (uint64_t)words << 32;
}

static inline unsigned agent_pieces_of(uint64_t value)
{
	return (unsigned)(value >> 32) & 0xffff;
}

/*
 * So many outer frames are those of the walk with that name: they don't follow. By the
 * name's last bits it is known if that one was lost.
 */
static inline uint64_t agent_kept_bits(unsigned frames, uint64_t name)
{
	return (uint64_t)frames << 48 | name >> AGENT_KEPT_BITS << 56;
}

static inline uint64_t agent_without_kept(uint64_t value)
{
	return value & ((1ull << 48) - 1);
}

static inline unsigned agent_kept_of(uint64_t value)
{
	return (unsigned)(value >> 48) & 0xff;
}

static inline enum agent_choice agent_choice_of(uint64_t value)
{
	return (enum agent_choice)(value >> 20 & 3);
}

static inline unsigned agent_rate_of(uint64_t value)
{
	return (unsigned)(value >> 24) % AGENT_RATES;
}

#define AGENT_WATCH_WORDS                                     \
	(AGENT_WATCH_FIXED + AGENT_ARGUMENTS + AGENT_FLOATS + \
	 AGENT_DEPTH_MAX + AGENT_PIECE_WORDS + 1)

/* Of an entry and its return, which a watched call needs room for. */
#define AGENT_BOTH_WORDS (AGENT_WATCH_WORDS + AGENT_RECORD_WORDS)

/* A ring is full before its end: for handlers that come in between. */
#define AGENT_RING_SLACK 4096

/* Beside its words: who has finished it late needn't write it once more. */
#define AGENT_TAKEN 0x4000u

static inline uint64_t agent_record_header(uint64_t position, unsigned words)
{
	return position << 16 | words;
}

/*
 * Beside the words of one that is being written: no call is lost where that never ends,
 * as a handler has jumped out of it before the call was made, or told of before. Until
 * then the word behind its header says where its return address lies.
 */
#define AGENT_BEGUN 0x2000u

_Static_assert(AGENT_BOTH_WORDS < AGENT_BEGUN, "beside each other");

#endif
