/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_LOOK_H
#define CALLTRAP_HEAP_LOOK_H

#include <stdbool.h>

#include "base/types.h"

/*
 * What the blocks that a heap holds are, and where, as somebody has found who
 * looked at the process's memory at one time.
 */
struct beginnings;
struct heap;
struct heap_look;
struct family;
struct site;

struct look_type {
	const char *name;
	uint64_t blocks, bytes;
};

struct site_look {
	struct look_type *types; /* the most blocks first; without those of
				    which none is known */
	size_t type_count, type_room;
	/* Of so many bytes that were acquired these are in memory, in huge pages
	   of that, and swapped out. */
	uint64_t bytes, resident, huge, swapped;
	bool huge_known; /* the kernel tells which pages are huge */
};

/* How something is known of a block. What comes later is surer. */
enum look_how {
	LOOK_UNKNOWN,
	LOOK_HELD,  /* an object of that type has its address */
	LOOK_OWN,   /* it is such an object */
	LOOK_EMPTY, /* a place for an object, with none in it */
};

/* Of all blocks that the heap holds. typed: it will be known what they are. */
struct heap_look *heap_look_new(const struct heap *heap, bool typed) MUST_CHECK;
void heap_look_free(struct heap_look *look);

/* Whether it is about a block; and what is known of that. */
bool heap_look_has(const struct heap_look *look, uint64_t handle);
enum look_how heap_look_how(const struct heap_look *look, uint64_t handle);

/* Why types aren't asked for although somebody wants them. Copied; NULL: nobody
   does, or they are. */
void heap_look_refuse_types(struct heap_look *look, const char *why);
const char *heap_look_why_untyped(const struct heap_look *look);

/* The name of its type, or NULL. */
const char *heap_look_type(const struct heap_look *look, uint64_t handle);
bool heap_look_is_typed(const struct heap_look *look);

/* Says what a block is; nothing happens if that is known better. The name is
   copied. */
void heap_look_tell(struct heap_look *look, uint64_t handle, enum look_how how,
		    const char *type);

/* The first bytes of its blocks: taken over. NULL: somebody wants none. */
void heap_look_keep(struct heap_look *look, struct beginnings *beginnings);
const struct beginnings *heap_look_beginnings(const struct heap_look *look);

/* Of a site: where its bytes are. NULL: it is newer. */
struct site_look *heap_look_site(struct heap_look *look,
				 const struct site *site);

/* The heap takes it over. What a collector has given back leaves it, and types
   are summed up. */
void heap_set_look(struct heap *heap, struct heap_look *look, uint64_t now);

/* What was found isn't true any more: the heap has gone on since. */
void heap_forget_look(struct heap *heap);

/* Who has looked last; NULL: nobody. */
const struct heap_look *heap_looked(const struct heap *heap);

/* What was found at a site; NULL: nothing. */
const struct site_look *heap_site_look(const struct heap *heap,
				       const struct site *site);

#endif
