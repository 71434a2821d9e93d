/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_OBJECT_HEAP_H
#define CALLTRAP_OBJECT_HEAP_H

#include <stdbool.h>

#include "base/memory.h"
#include "memory/blocks.h"
#include "memory/mappings.h"
#include "memory/pages.h"

/* What an interpreter's own allocator has: its objects by type, and the rest. */
struct object_sum {
	uint64_t count, bytes;
};

struct object_type {
	char *name;
	uint64_t objects, bytes;
};

struct object_heap {
	struct object_type *types; /* the largest come first */
	size_t type_count;
	struct object_sum objects; /* … of all types */
	struct object_sum others;  /* pieces in use that are none: what objects
				      keep apart, as lists do */
	struct object_sum free;    /* pieces beside others in use */
	struct object_sum empty;   /* whole pools, or pages */
	struct object_sum broken;  /* … that make no sense any more */
	struct object_sum unread;  /* mappings of which the kernel doesn't tell
				      what is there */
	uint64_t pools;
};

enum object_language {
	OBJECTS_OF_PYTHON,
	OBJECTS_OF_RUBY,
	OBJECTS_OF_PHP,
	OBJECT_LANGUAGES,
};

/* An object, as it was found. */
struct object_found {
	taddr_t address;      /* where its memory begins, … */
	const uint8_t *bytes; /* … with these, … */
	size_t seen;          /* … of which so many are known */
	const char *type;
	size_t head;   /* where in these the object itself begins */
	taddr_t apart; /* what it keeps elsewhere begins there, as no pointer of
			  it says; 0: nothing does */
};

/* Who wants to hear of each. */
struct object_observer {
	void (*found)(void *context, const struct object_found *object);
	/* Or NULL: a place for an object that has none. */
	void (*empty)(void *context, taddr_t address);
	/* Or NULL: a pool, and then each piece in use there, by address. */
	void (*pool)(void *context, taddr_t start, taddr_t end);
	void (*piece)(void *context, taddr_t address, size_t size);
	void *context;
};

/* Of each interpreter that the process has; others have no pools. blocks: of the C
   library, which may be objects, too. observer: or NULL. */
void object_heaps_read(struct memory *memory, const struct mappings *mappings,
		       const struct blocks *blocks,
		       const struct object_observer *observer,
		       struct object_heap ret[OBJECT_LANGUAGES]);
/* Whether there is one. */
bool object_heap_is_there(const struct mappings *mappings);
/* So many bytes at most are read for that, of those that are there or swapped
   out; 0: there is no interpreter. */
uint64_t object_heaps_to_read(const struct mappings *mappings,
			      const struct pages *pages);
void object_heaps_fini(struct object_heap heaps[OBJECT_LANGUAGES]);

/* Tells who wants to hear of it, if it has a type. */
static inline void object_tell(const struct object_observer *observer,
			       const struct object_found *object)
{
	if (observer && object->type)
		observer->found(observer->context, object);
}

static inline void object_tell_pool(const struct object_observer *observer,
				    taddr_t start, taddr_t end)
{
	if (observer && observer->pool)
		observer->pool(observer->context, start, end);
}

static inline void object_tell_piece(const struct object_observer *observer,
				     taddr_t address, size_t size)
{
	if (observer && observer->piece)
		observer->piece(observer->context, address, size);
}

/* Whether a file is mapped whose name begins with one of these. */
bool object_heap_has_file(const struct mappings *mappings,
			  const char *const *beginnings, size_t count);

void object_sum_add(struct object_sum *sum, uint64_t bytes);

/* What may hold pools, piece by piece: memory of no file that can be written and
   is there, or swapped out. malloc: the C library's, too. unread: what couldn't be
   looked through is added. */
typedef void object_scan_seen(void *context, taddr_t begin, taddr_t end);

void object_heap_scan(const struct mappings *mappings, bool malloc,
		      object_scan_seen *seen, void *context,
		      struct object_sum *unread);

#endif
