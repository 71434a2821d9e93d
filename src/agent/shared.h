/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SHARED_H
#define CALLTRAP_SHARED_H

#include <stddef.h>
#include <sys/types.h>

#include "agent/ring.h"

/*
 * Calltrap's side of the memory that it shares with the agent: gives blocks
 * their memory, reads counters and rings. Everything there is the traced
 * program's to change: numbers may be wrong, and nothing else.
 */

#define SHARED_RING_WORDS (1u << 17) /* 1 MiB */
#define SHARED_BLOCKS     128

/* How it is laid out: the same whenever, so that who takes over may find it. */
uint64_t shared_blocks_offset(void);
uint64_t shared_block_size(void);
uint64_t shared_size(void);

/* What is taken of them to begin with, and charged to us. */
uint64_t shared_least(void);

/* Whether so many bytes more may be charged to us. */
typedef bool shared_room(void *context, uint64_t bytes);

struct shared {
	int fd;
	struct agent_shared *memory;
	uint64_t mode;   /* AGENT_COUNTS | … */
	unsigned stubs;  /* those in use: so much of each block is needed */
	unsigned blocks; /* that have been made ready … */
	unsigned most;   /* … of so many that there may be */
	/* Asked before each one that isn't among the first; when it says no there
	   will be no more. NULL: there is room for all. */
	shared_room *has_room;
	void *context;
	struct ring rings[SHARED_BLOCKS];
	unsigned idle[SHARED_BLOCKS]; /* of those: nobody's, to be offered */
	unsigned idle_count;
	bool is_idle[SHARED_BLOCKS];
	uint64_t goals[SHARED_BLOCKS]; /* positions up to which one is read, … */
	uint64_t goals_set;            /* … in ticks: since when */
	uint64_t reached[SHARED_BLOCKS]; /* … what was read of it last */
	bool goes_on[SHARED_BLOCKS];     /* … behind that there is more */
	uint64_t stuck[SHARED_BLOCKS]; /* since when one's record isn't written */
	unsigned given_ups[SHARED_BLOCKS]; /* how often one was given up there */
	uint64_t asked_for_walks;          /* when all were to be told again */
	unsigned readers[SHARED_BLOCKS];   /* its thread's entry + 1 */
	/* The block that alone was written to since .sole_since; 0: none; and how
	   many were told that they are alone. */
	unsigned sole_block;
	uint64_t sole_since, soles;
	unsigned next_way; /* of a range that is overwritten next */
	/* Of struct agent_tables: so much is taken. */
	unsigned tables, spans, strides, span_rules;
};

/* fd becomes its own. Returns a negative errno when it can't be mapped. */
int shared_open(struct shared *shared, int fd, uint64_t mode) MUST_CHECK;
void shared_close(struct shared *shared);

/*
 * From now on so many stubs are in use. Blocks get their memory here, charged
 * to us: the program must not die of a full file system or cgroup.
 */
int shared_prepare(struct shared *shared, unsigned stubs) MUST_CHECK;

/* A sign of life. */
void shared_live(struct shared *shared);

/* … and blocks are offered, where they were taken. */
void shared_beat(struct shared *shared);

/* Whether all there may be are taken: a thread more would have none. */
bool shared_is_used_up(const struct shared *shared);

/* Of all threads. Saturates nothing: garbage stays garbage. */
void shared_counter(const struct shared *shared, unsigned stub,
		    struct agent_counter *ret);
void shared_histogram(const struct shared *shared, unsigned stub,
		      uint64_t ret[AGENT_OCTAVES][AGENT_PARTS]);

/*
 * Where calls are counted when they begin (STUB_TALLIES): from now on one of so many is
 * told of by the trap, as a power of two. What threads have drawn is drawn anew.
 */
void shared_set_tally_rate(struct shared *shared, unsigned stub, unsigned rate);

/*
 * Gives each record that is there to a function, thread by thread; those of
 * one thread in the order of their returns. With AGENT_STACKS, enter is given
 * the entry of each before; else of those whose return address is replaced.
 */
typedef void shared_visitor(void *context, const struct agent_record *record);
typedef void shared_watcher(void *context, const struct agent_watched *watched);
void shared_read(struct shared *shared, uint64_t now_ns, shared_visitor *visit,
		 shared_watcher *enter, void *context);

/*
 * Watched calls: before a reading begins. Whoever alone has been recording for a while
 * needn't read the clock for each call, if may_lag; see agent_shared.sole.
 */
void shared_find_sole(struct shared *shared, uint64_t now_ns, bool may_lag);

/*
 * The same, as far as it was there when the reading began: a part of each thread's that
 * hasn't been read beyond the time that is told. Lowers until_ret to the time by which
 * nothing is left to be read. Returns whether there is more.
 */
bool shared_read_part(struct shared *shared, uint64_t now_ns, uint64_t told,
		      shared_visitor *visit, shared_watcher *enter,
		      void *context, uint64_t *until_ret);

/*
 * The same of watched calls: entries and returns, a thread's in their order; as far
 * as they were there when the reading began, a part of one block at a time. That
 * ends where visit says that it may. Returns whether there is more.
 */
typedef bool shared_part_watcher(void *context,
				 const struct agent_watched *watched);
void shared_begin_reading(struct shared *shared);
bool shared_read_watched(struct shared *shared, unsigned block, uint64_t now_ns,
			 bool joins, shared_part_watcher *visit, void *context);

/*
 * Calls visit with the number of each thread that says it waits for room, where
 * there is none: it can't go on (into a system call, maybe) before more is read.
 * The program may have written any number.
 */
typedef void shared_waiter(void *context, pid_t tid);
void shared_visit_waiting(const struct shared *shared, shared_waiter *visit,
			  void *context);

/*
 * Where the stack of a thread lies that the agent knows already: all from its
 * stack pointer to high is mapped, and stays so for as long as it runs there.
 * 0, 0: nowhere that it may be read.
 */
struct shared_stack {
	taddr_t low, high;
};

/*
 * Memory from low to high that can be read, which an argument has led into: what
 * calls of functions that are AGENT_LOOKS_FIRST lead to is copied there.
 */
bool shared_is_readable(const struct shared *shared, taddr_t address);
void shared_set_readable(struct shared *shared, taddr_t address, taddr_t low,
			 taddr_t high);
void shared_forget_readable(struct shared *shared);

/* False when the agent doesn't know the thread. */
bool shared_find_stack(const struct shared *shared, taddr_t pointer, pid_t tid,
		       struct shared_stack *ret);
void shared_set_stack(struct shared *shared, taddr_t pointer, pid_t tid,
		      const struct shared_stack *stack);

/* Memory that holds stacks which are no thread's own, and is never unmapped. */
bool shared_is_on_other(const struct shared *shared, taddr_t address);
void shared_set_other(struct shared *shared, const struct shared_stack *stacks);

/* Calls visit with each thread whose stack nobody has looked for yet. */
typedef void shared_thread_visitor(void *context, taddr_t pointer, pid_t tid);
void shared_visit_new(const struct shared *shared, shared_thread_visitor *visit,
		      void *context);

/* Whether there is one; a rule is agent_rule()'s. */
bool shared_has_row(const struct shared *shared, taddr_t address);
/* False when there is no place for it. */
bool shared_add_row(struct shared *shared, taddr_t address, uint64_t rule);
void shared_clear_rows(struct shared *shared);

/*
 * Rules for a module's code from low to high, see struct agent_table: first where they
 * are to be, then all spans one after the other, then from when on they count. False
 * when there is no room. A rule is a number of the list.
 */
struct shared_table {
	taddr_t low, high;
	const uint64_t *rules; /* the first one means nothing */
	size_t rule_count;
	size_t span_count;
	unsigned first_rule, first_span, first_stride; /* it gets these */
};

bool shared_begin_table(struct shared *shared,
			struct shared_table *table) MUST_CHECK;
void shared_put_span(struct shared *shared, const struct shared_table *table,
		     size_t number, uint32_t offset, uint32_t rule);
void shared_end_table(struct shared *shared, const struct shared_table *table);

/* Code from low to high is gone; whoever walks over it sees that by cleared rows. */
void shared_forget_tables(struct shared *shared, taddr_t low, taddr_t high);

/*
 * SAMPLES: what the agent knows of blocks that are kept, see struct
 * agent_mark_line. To begin with there is no memory for it, and none is chosen.
 */
int shared_begin_marks(struct shared *shared) MUST_CHECK;

/* Returns false when there is no place. One that is there stays. */
bool shared_mark(struct shared *shared, taddr_t address);

/* It is about to be released. */
void shared_unmark(struct shared *shared, taddr_t address);

/* For how many there was no place: the agent's own word. */
uint64_t shared_unmarked(const struct shared *shared);

/* The thread's next calls are told of, whatever it is within. */
void shared_forget_outer(struct shared *shared, taddr_t pointer);

/*
 * What the thread says of the call whose return address lies at slot, and that
 * has come to the trap: what was chosen of it; that it is within another one,
 * which stands for it.
 */
enum agent_choice shared_take_choice(struct shared *shared, taddr_t pointer,
				     pid_t tid, taddr_t slot,
				     unsigned *rate_ret);
bool shared_is_within(const struct shared *shared, taddr_t pointer, pid_t tid,
		      taddr_t slot);

/*
 * What the thread that has the block, or the pointer, says of calls that it will record
 * when they have returned: where the return address of the innermost lies; 0: there is
 * none, or that one has been told of. False where no thread is known.
 */
struct shared_nest {
	unsigned entry, block;
	pid_t tid;
	taddr_t slot;
};

bool shared_find_nest(const struct shared *shared, taddr_t pointer,
		      struct shared_nest *ret);
bool shared_nest_of(const struct shared *shared, unsigned block,
		    struct shared_nest *ret);

/* Whether the thread says so still, and has written nothing since its ring was read. */
bool shared_nest_stands(const struct shared *shared,
			const struct shared_nest *nest);

/* It has been told of, or (clockless) will begin anew by its clock; all (of threads that
   may be at work) are forgotten. */
void shared_nest_told(struct shared *shared, const struct shared_nest *nest,
		      bool clockless);
void shared_nests_forget(struct shared *shared);

/*
 * A thread has ended, and all that it has recorded was read: others may have
 * its block.
 */
void shared_thread_ended(struct shared *shared, pid_t tid);

/* Whether nothing is on its way: each record that was begun was read. */
bool shared_is_complete(const struct shared *shared);

/* What is on its way won't be read: it counts as lost. */
void shared_give_up(struct shared *shared);

/* Records that found no room, or were never finished. */
uint64_t shared_lost(const struct shared *shared);

/* How often the hooks have thought that we are gone, and closed the gate. */
uint64_t shared_closings(const struct shared *shared);

/*
 * What hooks took beside the originals: of some calls, in ticks. They were
 * measured in the process, so it may be anything.
 */
struct shared_cost {
	uint64_t calls;
	uint64_t ticks;
	uint64_t waited; /* for room in rings, in ticks: of all calls … */
	uint64_t turned; /* … on processors */
	uint64_t hooks;  /* SAMPLES: of all calls that were told of */
};

struct shared_cost shared_cost(const struct shared *shared);

/* Gives the memory back; threads that are still at work find zeros. */
void shared_empty(struct shared *shared);

/*
 * Only what nobody can be at work in: who writes to a page that was given back has it
 * anew, and that is charged to the program. So much may be, where all is given back.
 */
void shared_empty_rings(struct shared *shared);
uint64_t shared_used_at_work(const struct shared *shared);

#endif
