/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GROWTH_H
#define CALLTRAP_GROWTH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/ranges.h"
#include "stack/stacks.h"

/*
 * What makes one process grow, by the stacks that do it, and what of that is
 * given back. VIRT grows when the end of the data segment is moved (brk) and by
 * mappings (mmap, mremap), RSS by page faults. Everything counts here, also
 * what the C library takes for itself.
 *
 * It is told of acts in the order in which they take effect. Who tells of brk
 * and mappings is growth/calls.h; page faults come from elsewhere:
 *
 *	growth_fault(process->growth, &(struct growth_fault){
 *		.stack = stack, .time = time, .address = address });
 *
 * A stack is that of the instruction that has touched the page, innermost frame
 * first: stacks_intern().
 */
struct growth;

enum growth_kind {
	GROWTH_HEAP,   /* brk */
	GROWTH_MMAP,   /* mmap, mremap, munmap */
	GROWTH_FAULTS, /* page faults */
	GROWTH_KINDS,
};

#define GROWTH_BIT(kind) (1U << (kind))
#define GROWTH_ALL       (GROWTH_BIT(GROWTH_KINDS) - 1)
#define GROWTH_PAGE      4096U

struct growth_options {
	unsigned kinds; /* that are watched: GROWTH_BIT()s */
	/*
	 * Called before pages are given back. Faults that are known, but still
	 * lie in a buffer, must be told of now: they came first. Or NULL.
	 */
	void (*drain)(void *context);
	void *context;
};

struct growth *growth_new(const struct growth_options *options) MUST_CHECK;
void growth_free(struct growth *growth);

/* Whether a kind is watched. */
bool growth_has(const struct growth *growth, enum growth_kind kind);

/* ---- what happens ---- */

/* What is known, but still lies in a buffer. */
void growth_drain(struct growth *growth);

/* Memory that was there when watching began. */
void growth_add_before(struct growth *growth, taddr_t begin, taddr_t end);

/* Where the data segment begins, and where it ends by then. */
void growth_set_break(struct growth *growth, taddr_t start, taddr_t end);

/* Whose doing it is. */
struct growth_actor {
	const char *function; /* "mmap"; a constant. NULL: page faults */
	stack_id stack;
	uint64_t time; /* monotonic, nanoseconds */
};

/* The data segment ends there now. */
void growth_move_break(struct growth *growth, const struct growth_actor *actor,
		       taddr_t end);

/* What was mapped there before is gone: MAP_FIXED. */
void growth_map(struct growth *growth, const struct growth_actor *actor,
		taddr_t begin, uint64_t size);

/*
 * Something is about to be given back: what is known to be there is cut out
 * now, as another thread may get the addresses before the end of the call is
 * seen. growth_unmap() or growth_remap() when that has succeeded, else
 * growth_put_back(); each empties the list.
 */
void growth_take(struct growth *growth, taddr_t begin, uint64_t size,
		 struct range_list *ret);
void growth_put_back(struct growth *growth, struct range_list *taken);
void growth_unmap(struct growth *growth, const struct growth_actor *actor,
		  taddr_t begin, uint64_t size, struct range_list *taken);

/*
 * What was taken lies elsewhere, or is of another size. It stays with the
 * stacks that mapped it; the actor's is what has become more.
 */
struct growth_move {
	taddr_t from, to;
	uint64_t from_size, to_size;
};

void growth_remap(struct growth *growth, const struct growth_actor *actor,
		  const struct growth_move *move, struct range_list *taken);

/* A call that would have made it grow has failed. */
void growth_fail(struct growth *growth, enum growth_kind kind,
		 const struct growth_actor *actor);

struct growth_fault {
	stack_id stack;
	uint64_t time;
	taddr_t address;
	uint64_t size;        /* of the pages that are there now; 0: of one */
	uint64_t faults;      /* that this one stands for; 0: 1 */
	const char *function; /* NULL: the stack has touched the page. Else it
				 has mapped the memory, by that; or the memory
				 has that name. A constant */
};

void growth_fault(struct growth *growth, const struct growth_fault *fault);

/* Whether none is known of yet in the 2 MiB around an address. */
bool growth_fault_is_first(const struct growth *growth, taddr_t address);

/* So many faults by a stack, at pages that nobody knows. */
void growth_faults_in_bulk(struct growth *growth, stack_id stack, uint64_t time,
			   uint64_t faults);

/* How page faults are seen, and how well. */
struct growth_fault_source {
	enum {
		FAULTS_NOT_SEEN,
		FAULTS_BY_EVENTS,  /* each one, as the kernel tells of it */
		FAULTS_BY_LOOKING, /* pages that are there by now */
	} method;
	int error;         /* why not by events: a negative errno */
	unsigned looks;    /* at pages */
	uint64_t unlooked; /* bytes that are mapped, and too many to look at */
	bool in_kernel;    /* those in system calls are seen as well */
	unsigned tasks;    /* whose faults are seen */
	unsigned refused;  /* whose are not, because of the error */
	uint64_t in_system_calls; /* of those that are seen */
	uint64_t in_bulk;         /* … of these, not one by one */
	uint64_t lost;            /* are only known to have been */
	uint64_t throttled;       /* times that the kernel has kept some back */
};

/* To be filled in by who tells of faults. */
struct growth_fault_source *growth_fault_source(struct growth *growth);
struct growth_fault_source growth_fault_seen(const struct growth *growth);

/* madvise(MADV_DONTNEED), and the like: the mapping stays, its pages go. */
void growth_drop_pages(struct growth *growth, const struct growth_actor *actor,
		       taddr_t begin, uint64_t size);

/* ---- what it has come to ---- */

/* What one stack has done, by one function. All bytes are of whole pages. */
struct growth_site {
	uint32_t number; /* from 1 on */
	enum growth_kind kind;
	const char *function; /* NULL: page faults, as they happened */
	stack_id stack;
	uint64_t calls; /* by which it has grown; faults */
	uint64_t bytes; /* by so much */
	uint64_t gone;  /* … of which was given back since, by whomever */
	uint64_t back_calls; /* by which this stack has given back */
	uint64_t back;       /* … so much, whoever's it was */
	uint64_t failed;
	uint64_t first_time, last_time;
};

size_t growth_site_count(const struct growth *growth);
const struct growth_site *growth_site(const struct growth *growth,
				      size_t number);

struct growth_total {
	uint64_t calls, bytes;     /* by which it has grown */
	uint64_t back_calls, back; /* and become smaller */
	uint64_t back_before; /* … of these, there before watching began */
	uint64_t replaced;    /* … mapped over */
	uint64_t failed;
	uint64_t unknown; /* bytes of munmap() that nothing was known
				      to be mapped at */
	uint64_t again;   /* FAULTS: bytes of pages that were there */
};

struct growth_total growth_total(const struct growth *growth,
				 enum growth_kind kind);

/* Calls whose arguments could not be read, or whose end was not seen. */
uint64_t growth_lost(const struct growth *growth);

#endif
