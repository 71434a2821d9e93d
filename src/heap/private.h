/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_PRIVATE_H
#define CALLTRAP_HEAP_PRIVATE_H

#include "base/hash.h"
#include "base/ranges.h"
#include "heap/doubts.h"
#include "heap/heap.h"
#include "heap/incidents.h"
#include "heap/live.h"
#include "heap/old_releases.h"
#include "heap/recent.h"
#include "heap/sites.h"

/* What the files of this room share. */

struct library_name; /* each text once */
struct library_pointer;
struct use_entry;
struct holder_entry;
struct pending_act;
struct thread_number;

/*
 * Acts by one function from one stack come again and again: what was found out about
 * those that have a place.
 */
#define KNOWN_ACTS 1024

struct known_act {
	const struct family_function *function; /* NULL: none is known */
	const char *given, *library; /* … by one of that library, by name */
	stack_id stack;
	uint32_t site;        /* 0: not known */
	bool is_plain;        /* … by plain.c */
	struct heap_use *use; /* NULL: likewise */
};

/* Everything of one family. */
struct ledger {
	const struct family *family;
	struct heap_total total;
	struct history history;
	struct history activity; /* .blocks: acquired so far */
	struct live live;        /* … of handles, or */
	struct ranges ranges;    /* of ranges */
	uint64_t end;            /* of the range that MOVE moves */
	bool end_known;
	uint64_t peak_number; /* there were so many, each higher */
	/* What was acquired last, as long as it is held. Acquisitions that
	   aren't kept count, too: after one of these it is nothing. */
	uint64_t acquisitions;
	uint64_t latest; /* a handle, or */
	bool has_latest;
	const struct range_block *latest_block; /* … NULL */
};

/* What was looked up lately: nearly every act asks for one of few. */
#define RECENT 16

struct heap {
	struct heap_options options;
	uint64_t off_since;     /* monotonic; 0: counting is on */
	uint64_t off_ns;        /* how long it had been off before that */
	struct history held_up; /* .blocks: nanoseconds so far, … */
	uint64_t held_until;    /* … by then, since .start */
	struct ledger *ledgers; /* by family->index */
	size_t ledger_count;
	struct sampler sampler; /* .mean 0: every block is kept */
	unsigned rate;
	uint64_t rate_since;          /* on the heap's clock */
	uint64_t rate_ns[HEAP_RATES]; /* of those before */
	struct sites sites;
	struct timeline timeline; /* of their cells */
	size_t suppression_count; /* sites that were asked about */
	struct recent recent;
	struct incidents incidents;
	struct doubts doubts;
	struct old_releases old_releases;
	uint64_t missed_until; /* calls may have been missed up to then; 0 */
	struct pending_act *pending; /* by call */
	size_t live_count;           /* in all families */
	struct site *resizing; /* gets the block of the resize that is being
				    counted */

	struct known_act *known_acts; /* NULL until needed */
	struct library_name *libraries;
	struct library_pointer *library_pointers;
	const struct library_pointer *recent_pointers[RECENT];
	struct use_entry *uses;
	struct use_entry *recent_uses[RECENT];
	struct use_entry **use_list;
	size_t use_count, use_room;
	struct holder_entry *holders;
	struct holder_entry **holder_list;
	size_t holder_count, holder_room;
	struct thread_number *threads;
	pid_t last_tid; /* -1: none yet */
	uint16_t last_thread;
	pid_t *tids; /* tids[number - 1] */
	size_t thread_count, thread_room;
	size_t named_count;       /* of threads that were asked twice */
	struct heap_reach *reach; /* or NULL, … */
	struct heap_look *look;   /* … as this */
};

/* registry.c: what occurs again and again, each kept once. */
const char *heap_library(struct heap *heap, const char *library);
/* What is known of it; or NULL. */
const struct known_act *heap_known(const struct heap *heap,
				   const struct family_function *function,
				   stack_id stack);
/* Sets .library to that, and .site and .use as far as they are known. */
void heap_recognise(struct heap *heap, struct heap_act *act);
/* Of one that was recognised: they are these. */
void heap_know_site(struct heap *heap, const struct heap_act *act,
		    const struct site *site);
void heap_know_use(struct heap *heap, const struct heap_act *act,
		   struct heap_use *use);
uint16_t heap_find_thread(struct heap *heap, pid_t tid);
struct heap_use *heap_use(struct heap *heap,
			  const struct family_function *function,
			  const char *library, unsigned component);
struct heap_holder *heap_holder(struct heap *heap, const struct family *family,
				const char *library, unsigned component);
void heap_registry_fini(struct heap *heap);
size_t heap_registry_bytes(const struct heap *heap);

static inline struct ledger *heap_ledger(struct heap *heap,
					 const struct family *family)
{
	return &heap->ledgers[family->index];
}

static inline uint64_t heap_since(const struct heap *heap, uint64_t time)
{
	return time > heap->options.start ? time - heap->options.start : 0;
}

/* Most are by the thread that the one before was by. */
static inline uint16_t heap_thread(struct heap *heap, pid_t tid)
{
	return tid == heap->last_tid ? heap->last_thread :
				       heap_find_thread(heap, tid);
}

/* What the one that has made an act belongs to; 0: no component. */
static inline unsigned heap_component(const struct heap *heap, stack_id stack,
				      const char *library)
{
	const struct heap_options *options = &heap->options;

	/* Which isn't the stack of one place. */
	if (!options->component || stack == STACK_NONE)
		return 0;
	return options->component(options->context, stack, library);
}

/* account.c: the numbers of sites, libraries and families. */
struct site *heap_find_site(struct heap *heap, const struct heap_act *act);

static inline struct site *heap_site_of(struct heap *heap,
					const struct heap_act *act)
{
	return act->site ? heap->sites.all[act->site - 1] :
			   heap_find_site(heap, act);
}

void heap_count_use(struct heap *heap, const struct heap_act *act,
		    uint64_t bytes, uint64_t calls);
void heap_count_time(struct heap *heap, const struct heap_act *act);

static inline void heap_count_time_of(struct heap_use *use,
				      const struct heap_act *act)
{
	if (act->untimed || act->end <= act->begin)
		return;
	use->timed++;
	use->total_ns += act->end - act->begin + act->correction;
}

void heap_count_failed(struct heap *heap, const struct heap_act *act);

/* Of what isn't sampled. */
#define WEIGHT_OF_ONE ((struct sample_weight){ .count = 1 })

/* Not every block of the family is kept. */
static inline bool heap_is_sampled(const struct heap *heap,
				   const struct family *family)
{
	return heap->sampler.mean && family->has_size && !family->granularity &&
	       !family->shared;
}

/* How many blocks one stands for … */
struct sample_weight heap_weight(const struct heap *heap,
				 const struct family *family,
				 const struct live_block *block);

/* … that comes of this act; 0: it won't be kept. */
uint64_t heap_act_weight(const struct heap *heap, const struct heap_act *act);

/* A block of this size is new at the site. */
void heap_count_acquired(struct heap *heap, struct site *site,
			 const struct heap_act *act, uint16_t thread,
			 uint64_t size, const struct sample_weight *weight);
/* … by a plain act; size as it has that. */
void heap_count_acquired_plainly(struct heap *heap, struct ledger *ledger,
				 struct site *site, const struct heap_act *act,
				 uint16_t thread);

/* A block of this size was given back before another one was acquired. */
void heap_count_temporary(struct heap *heap, struct site *site, uint64_t size);

/* Something may have been acquired unseen. */
void heap_forget_latest(struct heap *heap);

/*
 * Bytes of a site are gone; blocks: 0 if that wasn't the last of a block, else
 * 1, or as many as that stood for.
 * Why, and when: lifetimes are told from other ends.
 */
enum gone {
	GONE_RELEASED,
	GONE_RESIZED,
	GONE_REPLACED, /* or its release was missed */
};

void heap_count_gone(struct heap *heap, struct site *site, uint64_t time,
		     uint64_t birth, uint64_t bytes, uint64_t blocks,
		     enum gone why);
/* … one block, by a plain release. */
void heap_count_gone_plainly(struct heap *heap, struct ledger *ledger,
			     struct site *site, uint64_t time, uint64_t birth,
			     uint64_t size);

/* Of what is known of both. */
static inline bool heap_forms_differ(const struct family_function *a,
				     const struct family_function *b)
{
	return a->form && b->form && a->form != b->form;
}

static inline bool heap_libraries_differ(const char *a, const char *b)
{
	return a && b && a != b;
}

/* blame.c: whether a release fits the acquisition. */
void heap_judge_release(struct heap *heap, const struct heap_act *act,
			const struct site *site, uint64_t handle,
			uint64_t size);
void heap_judge_unknown(struct heap *heap, const struct heap_act *act,
			uint64_t handle);
void heap_note_released(struct heap *heap, const struct heap_act *act,
			const struct site *site, uint64_t handle);

/* handles.c and range_acts.c: acts on the two kinds of families. What a call
   has taken out of the live blocks: */
struct taken {
	bool found;
	struct live_block block;
	struct range_list pieces;
	/* Of what was acquired last by then: the number of that acquisition,
	   if it is .block, or 0; or the block of some of the pieces. */
	uint64_t latest;
	const struct range_block *latest_block;
};

#define HEAP_BIRTH_SHIFT 10 /* struct live_block's 1024 ns */

static inline uint64_t heap_birth(const struct heap *heap,
				  const struct live_block *block)
{
	return heap->options.start +
	       ((uint64_t)block->birth << HEAP_BIRTH_SHIFT);
}

static inline uint64_t heap_birth_of(const struct heap *heap, uint64_t time)
{
	const uint64_t latest = (UINT64_C(1) << LIVE_BIRTH_BITS) - 1;
	const uint64_t birth = heap_since(heap, time) >> HEAP_BIRTH_SHIFT;

	return birth < latest ? birth : latest;
}

/* The last of a block is gone. */
void handles_gone(struct heap *heap, const struct family *family,
		  const struct live_block *block, uint64_t time, enum gone why);
void handles_acquire(struct heap *heap, const struct heap_act *act);
void handles_take(struct heap *heap, const struct heap_act *act,
		  uint64_t handle, struct taken *ret);
/* A collector has taken it, if it is held. */
void handles_collected(struct heap *heap, const struct family *family,
		       uint64_t handle, uint64_t time);
void handles_put_back(struct heap *heap, const struct heap_act *act,
		      struct taken *taken);
void handles_settle(struct heap *heap, const struct heap_act *act,
		    uint64_t handle, struct taken *taken);

void range_acts_acquire(struct heap *heap, const struct heap_act *act);
void range_acts_take(struct heap *heap, const struct heap_act *act,
		     uint64_t begin, uint64_t size, struct taken *ret);
void range_acts_put_back(struct heap *heap, const struct heap_act *act,
			 struct taken *taken);
void range_acts_settle(struct heap *heap, const struct heap_act *act,
		       struct taken *taken);
void range_acts_move(struct heap *heap, const struct heap_act *act);

/* plain.c: whether calls of the function may be what that takes. */
bool heap_is_plain(const struct heap *heap,
		   const struct family_function *function);

/* act.c */
void heap_pending_fini(struct heap *heap);

#endif
