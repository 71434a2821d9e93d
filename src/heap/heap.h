/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_H
#define CALLTRAP_HEAP_H

#include <sys/types.h>

#include "heap/family.h"
#include "heap/site.h"
#include "stack/stacks.h"

/*
 * What one process has acquired and not given back. It is told of acts in the
 * order in which they take effect: of a release before the real one runs, of
 * an acquisition after it has returned. Functions that call others of their
 * family (operator new calls malloc) are the business of the caller: one act
 * for one call of the program, that of the outermost function.
 */
struct heap;
struct whole_call;

/* Whether what is acquired is among what is sampled. */
enum heap_sampling {
	SAMPLING_OPEN, /* that is the heap's business */
	SAMPLING_KEPT,
	SAMPLING_LEFT,
};

struct heap_act {
	const struct family_function *function;
	/* With .function, pairs heap_begin() with heap_act(). 0: there was no
	   heap_begin(). */
	uint64_t call;
	uint64_t begin, end; /* monotonic, nanoseconds; what lies between is
				the call's own time */
	int64_t correction;  /* of that, where times are summed up: see
			       event_mean_duration() */
	pid_t tid;
	stack_id stack;
	uint64_t handle; /* what was acquired, is released; MOVE: the new
				 end if the function has it */
	uint64_t old;    /* RESIZE, MOVE */
	uint64_t size;
	uint64_t count, item; /* … as the call has it, where it is a product;
				 else 0 */
	uint64_t old_size;
	bool failed;     /* by family_succeeded() */
	bool untimed;    /* .begin is no use for how long it took */
	bool unkept;     /* what it acquires isn't to be kept */
	bool is_further; /* another handle of a call that was told */
	enum heap_sampling sampling;
	unsigned rate;        /* … KEPT: at this one, see heap_set_rate() */
	uint32_t site;        /* as heap_site_number() has said; or 0 */
	struct heap_use *use; /* the heap's own: NULL */
	const char *library;  /* of the caller; lives as long as the session,
				 NULL = not known */
};

/* The mean of times. A sum of times that are too short to be told may be
   negative. */
static inline uint64_t heap_mean_time(int64_t total, uint64_t count)
{
	return total > 0 && count ? total / count : 0;
}

/* Where bounds lie. What doesn't fit is counted, never lost in silence. */
struct heap_limits {
	size_t blocks; /* live ones, in all families */
	size_t sites;
	size_t incidents; /* of each kind */
};

#define HEAP_LIMITS_DEFAULT \
	((struct heap_limits){ 200u << 20, 1u << 20, 1u << 14 })

#define HEAP_THREAD_NAME 16 /* as of pthread_setname_np() */

struct heap_options {
	const struct families *families;
	struct heap_limits limits; /* zeroed: the default */
	/*
	 * In so many bytes, on average, one block is kept, of families that
	 * have sizes, and all numbers are estimates (heap/sampling.h). 0 or 1:
	 * every block is.
	 */
	uint64_t sample;
	bool adapts;   /* … doubled as heap_set_rate() says: always sampled */
	unsigned rate; /* … to begin with */
	uint64_t seed; /* of the choice */
	uint64_t start; /* when watching began */
	/* The process is watched from its first instruction on: what is not
	   known was never acquired. */
	bool complete;
	/* Whether to keep what was acquired and given back when. */
	bool timeline;
	/*
	 * The number of the component that a call stack and the library at
	 * its end belong to, or 0. Asked at each act; NULL: there are none.
	 */
	unsigned (*component)(void *context, stack_id stack,
			      const char *library);
	const struct stacks *stacks; /* or NULL */
	/* Who was told the names of code whose file isn't there (that of a
	   recording); or NULL. */
	struct namer *namer;
	/* By family->index: whether some of its acquisitions can't be seen at
	   all. NULL: of none. */
	const bool *missing;
	/* Descriptors that the process had when it began its program. */
	const int *inherited;
	size_t inherited_count;
	void *context;
	/* What a thread calls itself; "" when it is gone. NULL: nobody knows. */
	void (*thread_name)(pid_t tid, char ret[HEAP_THREAD_NAME]);
};

struct heap *heap_new(const struct heap_options *options) MUST_CHECK;
void heap_free(struct heap *heap);

/* What an act came to. */
struct heap_outcome {
	bool done;     /* it has had its effect */
	bool known;    /* RELEASE, RESIZE: what is given back was held */
	uint64_t size; /* … and so large, in bytes */
	bool kept;     /* what was acquired is one of those that are sampled */
};

/* As of heap_options: bytes a sample, by now; 0: every block is kept. */
uint64_t heap_sample(const struct heap *heap);

/* How long all calls took, where some were timed; of what is sampled: these. */
int64_t heap_total_time(const struct heap *heap, int64_t timed_ns,
			uint64_t timed, uint64_t calls);

/*
 * That number is the one of heap_options, doubled so often from now on. What
 * blocks stand for is settled when they are acquired.
 */
#define HEAP_RATES 32
void heap_set_rate(struct heap *heap, unsigned rate, uint64_t now);

/* What it was for how long. */
struct heap_rate {
	uint64_t sample;
	uint64_t ns;
};

struct heap_rate heap_rate(const struct heap *heap, unsigned rate,
			   uint64_t now);

/* Blocks that are held, of all families. */
size_t heap_live_count(const struct heap *heap);

/*
 * Its clock. While counting is switched off it stands still, so that nobody
 * takes that for a time in which nothing happened: all times that acts are
 * given are translated, and all that is asked of a heap is asked at such times.
 */
void heap_switch(struct heap *heap, uint64_t now, bool on);
uint64_t heap_time(const struct heap *heap, uint64_t monotonic);

/* How long it was switched off, until it was switched on again. */
uint64_t heap_off_time(const struct heap *heap);

/*
 * For some of this time the process could not run although it would have, for
 * whatever reason. Its clock goes on, but that nothing happened then says
 * nothing. These come in order.
 */
struct heap_held_up {
	uint64_t since, until; /* monotonic */
	uint64_t ns;
};

void heap_held_up(struct heap *heap, const struct heap_held_up *held_up);

/*
 * An act is known to come: to say so early makes it faster, as what it needs of
 * memory is on its way meanwhile. Each step finds what the one before has asked
 * for, if others were done in between. First, that it is on this handle.
 */
void heap_expect(const struct heap *heap, const struct family *family,
		 uint64_t handle);

/* … then, where a block of this handle was acquired, as things are now: a site's
   number, or 0; */
uint32_t heap_expect_block(const struct heap *heap, const struct family *family,
			   uint64_t handle);

/* … then that it is on this site (0: none), and what that has elsewhere. */
void heap_expect_site(const struct heap *heap, uint32_t number);
void heap_expect_details(const struct heap *heap, uint32_t number);

/* The number of the site of what acquires so; 0: there is none yet. */
uint32_t heap_site_number(struct heap *heap, const struct heap_act *act);

/*
 * A release or a resize has been entered. What it gives back may come to
 * another thread before its return is seen, so it leaves the live blocks now.
 * heap_act() with the same call says how it ended, and returns the block to
 * them if it failed; until then it counts as outstanding. Other acts: nothing
 * happens. What it gives back is known by now.
 */
struct heap_outcome heap_begin(struct heap *heap, const struct heap_act *act);

/*
 * A call has returned. Or, without a heap_begin() before it: a release that is
 * not waited for is told at its entry, with end = 0.
 */
struct heap_outcome heap_act(struct heap *heap, const struct heap_act *act);

/* The same of one that nobody needs afterwards: it is changed. */
struct heap_outcome heap_take_act(struct heap *heap, struct heap_act *act);

/* A release that was told at its entry has returned, and has its .end. */
void heap_act_timed(struct heap *heap, struct heap_act *act);

/*
 * Of nearly all calls that are whole (struct whole_call) all is known: such as
 * another one by the same function from the same stack. What that would come to
 * by the functions above, with nobody who wants to know the outcome, is done.
 * False: it isn't such, and nothing was.
 */
bool heap_take_plain(struct heap *heap, const struct whole_call *call);

/*
 * A call will not return (its thread has ended, the process has died, it was
 * left by longjmp): what it had begun is not known, and counted as in flight.
 * Returns whether what it was about to give back is held again.
 */
bool heap_abandon(struct heap *heap, const struct heap_act *act);

/*
 * Calls may have gone by unseen between these times. What was held by then and
 * may have been given back meanwhile is forgotten, and what looked like a double
 * free is in doubt.
 */
void heap_missed(struct heap *heap, uint64_t since, uint64_t until);

uint64_t heap_start(const struct heap *heap);
size_t heap_family_count(const struct heap *heap);
const struct family *heap_family(const struct heap *heap, size_t index);

/*
 * When the process last did what it does most of the time: earlier than now by
 * a fifth of the time or more, if hardly anything was acquired since. For one
 * that is watched from its beginning: always now; that may have been its start.
 */
uint64_t heap_busy_until(const struct heap *heap, const struct family *family,
			 uint64_t now);

/* Totals of one family. */
struct heap_total {
	uint64_t blocks, bytes; /* outstanding */
	uint64_t alloc_blocks, alloc_bytes;
	uint64_t freed_blocks, freed_bytes; /* of those acquired before our
					       eyes */
	uint64_t peak_bytes, peak_blocks;
	uint64_t peak_time;      /* when bytes (without has_size:
					       blocks) were at their peak */
	uint64_t at_peak_blocks; /* … then */
	/* Given back before anything else of the family was acquired, by
	   whichever thread. */
	uint64_t temporary_blocks;
	uint64_t failed;        /* acquisitions and resizes */
	uint64_t null_releases; /* free(NULL) */
	uint64_t unseen_frees;  /* of what others acquire: family->partly */
	uint64_t double_frees;
	uint64_t doubtful_frees; /* … unless an acquisition was missed */
	uint64_t unknown_frees;  /* acquired before watching began */
	uint64_t invalid_frees;  /* … when it began with the process: never */
	uint64_t unknown_resizes;
	uint64_t mismatches;      /* released by another form's function */
	uint64_t size_mismatches; /* … with another size than acquired */
	uint64_t reused;          /* acquired while live: a release was
				     missed */
	uint64_t replaced;        /* by REPLACE, or MAP_FIXED */
	uint64_t in_flight;       /* calls that never returned */
	uint64_t dropped;         /* acquisitions for which there was no room */
	uint64_t merged;          /* … whose site got none of its own */
	uint64_t unkept;          /* … that were not to be kept */
	uint64_t forgotten;       /* blocks, by heap_missed() */
};

/*
 * The intervals of .times_of_blocks of all sites, up to now; with
 * struct heap_options.timeline. All sites' cells are settled by that.
 */
const struct timeline *heap_timeline(struct heap *heap, uint64_t now);

const struct heap_total *heap_total(const struct heap *heap,
				    const struct family *family);

/* Acquisitions in all families that were not to be kept. */
uint64_t heap_unkept(const struct heap *heap);

/* Of all families. */
uint64_t heap_double_frees(const struct heap *heap);

/* As of heap_options; or NULL. */
const bool *heap_missing(const struct heap *heap);

/* Where the frames of its stacks are; or NULL. */
const struct stacks *heap_stacks(const struct heap *heap);

/* As of heap_options; or NULL. */
struct namer *heap_namer(const struct heap *heap);

/* For how long it could not run by then, as .blocks in nanoseconds. */
const struct history *heap_held_history(const struct heap *heap);

/* What a family had acquired by then, as .blocks. */
const struct history *heap_activity(const struct heap *heap,
				    const struct family *family);

/* How a number has changed in time: of a family, or of a site. */
const struct history *heap_total_history(const struct heap *heap,
					 const struct family *family);

/* Sites are numbered from 1 on. */
size_t heap_site_count(const struct heap *heap);
const struct site *heap_site(const struct heap *heap, size_t number);

/*
 * What a site held when its family was at its peak: at .peak_time, when bytes
 * (without has_size: blocks) were so many for the first time. The sum over all
 * sites of the family is .peak_bytes in .at_peak_blocks.
 */
struct site_amount heap_at_peak(const struct heap *heap,
				const struct site *site);

/*
 * Asks of each site that is new since the last time whether it is one that
 * nobody wants to hear of, and keeps the answer in .suppression (0: no).
 */
void heap_suppress(struct heap *heap,
		   unsigned (*find)(void *context, const struct site *site),
		   void *context);

/*
 * Threads take their names when they have begun, after they have acquired
 * something maybe: this asks again, for all of them, or for those that were new
 * the last time.
 */
void heap_name_threads(struct heap *heap, bool all);

/* … what it is called is known from elsewhere. */
void heap_set_thread_name(struct heap *heap, pid_t tid, const char *name);

/* "" when it is not known. */
const char *heap_thread_name(const struct heap *heap, pid_t tid);

/* The only thread that has acquired at a site; 0: there were several. */
pid_t heap_site_thread(const struct heap *heap, const struct site *site);

/* A live block. */
struct heap_block {
	const struct site *site;
	uint64_t handle;
	uint64_t size;
	uint64_t birth; /* monotonic, nanoseconds (to 1 µs) */
	pid_t tid;      /* 0: one of very many threads */
	struct sample_weight weight;
};

/* Where a walk through all live blocks is; zeroed: at the beginning. */
struct heap_walk {
	size_t family, part, index;
};

/* False at the end. The heap must not change meanwhile. */
bool heap_next_block(const struct heap *heap, struct heap_walk *walk,
		     struct heap_block *ret);

/* What calls of one function made by one library, and of that by one
   component, came to. */
struct heap_use {
	const struct family_function *function;
	const char *library;
	unsigned component; /* 0: none */
	uint64_t calls, failed;
	uint64_t bytes;   /* asked for, or given back */
	uint64_t timed;   /* calls whose time is known */
	int64_t total_ns; /* … in sum; see heap_mean_time() */
};

size_t heap_use_count(const struct heap *heap);
const struct heap_use *heap_use_at(const struct heap *heap, size_t index);

/* What a library, or a component, holds of one family. */
struct heap_holder {
	const struct family *family;
	const char *library; /* NULL: not known, or a component */
	unsigned component;  /* 0: a library */
	uint64_t blocks, bytes;
	uint64_t alloc_blocks, alloc_bytes;
	uint64_t peak_bytes, peak_blocks, peak_time;
};

size_t heap_holder_count(const struct heap *heap);
const struct heap_holder *heap_holder_at(const struct heap *heap, size_t index);

/* What two stacks have to do with each other. */
enum incident_kind {
	INCIDENT_CROSS,    /* acquired by one library, released by another */
	INCIDENT_MISMATCH, /* … by functions that don't fit each other */
	INCIDENT_SIZE_MISMATCH,
	INCIDENT_DOUBLE_FREE,  /* released at both */
	INCIDENT_INVALID_FREE, /* never acquired: second is the release */
	INCIDENT_KINDS,
};

struct incident {
	enum incident_kind kind;
	const struct family_function *first_function, *second_function;
	stack_id first, second;
	const char *first_library, *second_library;
	unsigned first_component, second_component; /* 0: none */
	uint64_t count, bytes;
	uint64_t first_time, last_time;
	uint64_t handle, size; /* of the last one */
};

size_t heap_incident_count(const struct heap *heap, enum incident_kind kind);
const struct incident *heap_incident_at(const struct heap *heap,
					enum incident_kind kind, size_t index);
/* Incidents whose pair of stacks found no room. */
uint64_t heap_incidents_dropped(const struct heap *heap,
				enum incident_kind kind);

/* The memory that all this takes. */
struct heap_memory {
	size_t block_bytes; /* for the table of live blocks */
	size_t site_bytes;
	size_t other_bytes;
};

struct heap_memory heap_memory(const struct heap *heap);

#endif
