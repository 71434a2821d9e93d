/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GROWTH_PRIVATE_H
#define CALLTRAP_GROWTH_PRIVATE_H

#include "base/hash.h"
#include "growth/growth.h"
#include "growth/page_table.h"
#include "growth/view.h"

/* What the files of this room share. */

struct site_key {
	stack_id stack;
	enum growth_kind kind;
	const char *function;
};

struct site_entry {
	struct growth_site site;
	struct site_key key;
	UT_hash_handle hh;
};

struct growth {
	struct growth_options options;
	struct site_entry *by_key;
	struct site_entry **sites; /* sites[number - 1] */
	size_t count, room;
	struct growth_total totals[GROWTH_KINDS];
	struct growth_fault_source fault_source;
	struct ranges memory;    /* what is mapped; of site 0: since before */
	struct page_table pages; /* that were touched while watching */
	taddr_t break_start;     /* 0: not known */
	taddr_t break_end;       /* of whole pages; 0: not known */
	struct growth_running *running; /* calls: calls.c */
	uint64_t unreadable, unfinished;
	struct growth_view first, last; /* view.c */
	uint64_t look_ns;               /* how long the last look took */
	struct residency *residency;    /* residency.c; or NULL */
};

/* calls.c, residency.c, view.c */
void growth_residency_fini(struct growth *growth);
void growth_calls_fini(struct growth *growth);
void growth_view_fini(struct growth_view *view);

/* Stacks beyond this many share a site without one. */
#define SITES_MAX (1U << 20)

struct site_entry *growth_entry_of(struct growth *growth, enum growth_kind kind,
				   const struct growth_actor *actor);

/* [begin, begin + size) in whole pages. */
struct extent {
	taddr_t begin, end;
};

struct extent growth_extent(taddr_t begin, uint64_t size);

/* It has grown by so much, at this site. */
void growth_count(struct growth *growth, struct site_entry *entry,
		  uint64_t time, uint64_t bytes);

/* Its pages move with it; those behind its new end are there no more. */
void growth_move_pages(struct growth *growth, const struct growth_actor *actor,
		       const struct growth_move *move);

/*
 * Looks which pages are there: where nobody tells of page faults, that is how
 * they are known. The first time it only learns which those are. Now and then:
 * only if that doesn't take too much of all time. Returns whether what is known
 * of pages is what there is now.
 */
bool growth_look_at_pages(struct growth *growth, pid_t pid, bool now_and_then);
void growth_look_again(struct growth *growth);

/* Pages of an extent, if any were touched, are there no more. */
void growth_forget_pages(struct growth *growth, struct extent extent,
			 const struct growth_actor *actor);

#endif
