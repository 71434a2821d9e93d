/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/wrappers.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"
#include "heap/caller.h"
#include "naming/origin.h"

/*
 * A function is taken for a wrapper when it calls the allocator at one of
 * SHARE stacks or more, and is called from CALLERS places or more. With fewer
 * stacks than STACKS_MIN nothing is certain.
 */
#define CALLERS    8
#define SHARE      8
#define STACKS_MIN 16

struct code_location {
	const void *code;
	uint64_t address;
};

struct wrapper {
	char *name;
	size_t stacks;
	struct code_location callers[CALLERS];
	unsigned caller_count;
	UT_hash_handle hh;
};

struct wrappers {
	char *const *patterns;
	struct wrapper *all;
	size_t stacks; /* of the heap that was searched */
};

/* The frame that calls the allocator, behind those of the C library. */
struct wrapper_candidate {
	struct frame frame, caller;
	bool has_caller;
};

struct seen {
	struct code_location place;
	UT_hash_handle hh;
};

struct wrappers *wrappers_new(char *const *patterns)
{
	struct wrappers *wrappers = xcalloc(1, sizeof(*wrappers));

	wrappers->patterns = patterns;
	return wrappers;
}

static void forget(struct wrappers *wrappers)
{
	struct wrapper *each, *next;

	HASH_ITER(hh, wrappers->all, each, next) {
		HASH_DEL(wrappers->all, each);
		free(each->name);
		free(each);
	}
	wrappers->stacks = 0;
}

void wrappers_free(struct wrappers *wrappers)
{
	if (!wrappers)
		return;
	forget(wrappers);
	free(wrappers);
}

static bool candidate_of(const struct stacks *stacks, const struct site *site,
			 struct wrapper_candidate *ret)
{
	struct frame frames[HEAP_CALLER_DEPTH];
	size_t count, i;

	if (!site->function->family->has_size)
		return false;
	count = stacks_frames(stacks, site->stack, frames, ARRAY_SIZE(frames));
	i = heap_caller_first(frames, count);
	while (i < count && origin_is_c_library(&frames[i]))
		i++;
	if (i >= count)
		return false;
	ret->frame = frames[i];
	ret->has_caller = i + 1 < count;
	if (ret->has_caller)
		ret->caller = frames[i + 1];
	return true;
}

static struct code_location place_of(const struct frame *frame)
{
	struct code_location place;

	/* It is a key, padding and all. */
	memset(&place, 0, sizeof(place));
	place.code = frame->code;
	place.address = frame->address;
	return place;
}

/* ---- which frames ---- */

/* False when it was there, or there is no room. */
static bool see(struct seen **all, const struct frame *frame)
{
	const struct code_location place = place_of(frame);
	struct seen *seen;

	HASH_FIND(hh, *all, &place, sizeof(place), seen);
	if (seen || HASH_COUNT(*all) >= WRAPPER_FRAMES_MAX)
		return false;
	seen = xcalloc(1, sizeof(*seen));
	memcpy(&seen->place, &place, sizeof(place));
	HASH_ADD(hh, *all, place, sizeof(place), seen);
	return true;
}

static bool was_seen(struct seen *all, const struct frame *frame)
{
	const struct code_location place = place_of(frame);
	struct seen *seen;

	HASH_FIND(hh, all, &place, sizeof(place), seen);
	return seen;
}

static void free_seen(struct seen *all)
{
	struct seen *seen, *next;

	HASH_ITER(hh, all, seen, next) {
		HASH_DEL(all, seen);
		free(seen);
	}
}

static size_t gather(const struct heap *heap, const struct stacks *stacks,
		     struct seen **all, struct frame *frames)
{
	struct wrapper_candidate candidate;
	size_t used = 0;

	for (size_t i = 1; i <= heap_site_count(heap); i++) {
		if (!candidate_of(stacks, heap_site(heap, i), &candidate) ||
		    !see(all, &candidate.frame))
			continue;
		if (frames)
			frames[used] = candidate.frame;
		used++;
	}
	return used;
}

size_t wrappers_frames(const struct heap *heap, const struct stacks *stacks,
		       struct frame frames[WRAPPER_FRAMES_MAX])
{
	struct seen *all = NULL;
	size_t count = gather(heap, stacks, &all, frames);

	free_seen(all);
	return count;
}

/* ---- which functions ---- */

static const char *key_of(const struct frame_name *name)
{
	return name->linkage ? name->linkage : name->function;
}

static void add_caller(struct wrapper *wrapper, const struct frame *frame)
{
	const struct code_location place = place_of(frame);

	for (unsigned i = 0; i < wrapper->caller_count; i++)
		if (!memcmp(&wrapper->callers[i], &place, sizeof(place)))
			return;
	if (wrapper->caller_count < CALLERS)
		wrapper->callers[wrapper->caller_count++] = place;
}

/* caller: where it is called, or inlined. */
static void add(struct wrappers *wrappers, const char *name,
		const struct frame *caller)
{
	struct wrapper *wrapper;

	HASH_FIND_STR(wrappers->all, name, wrapper);
	if (!wrapper) {
		wrapper = xcalloc(1, sizeof(*wrapper));
		wrapper->name = xstrdup(name);
		HASH_ADD_KEYPTR(hh, wrappers->all, wrapper->name,
				strlen(wrapper->name), wrapper);
	}
	wrapper->stacks++;
	add_caller(wrapper, caller);
}

static void add_site(struct wrappers *wrappers, const struct site *site,
		     const struct wrapper_candidate *candidate,
		     struct namer *namer)
{
	const struct frame_name *names;
	size_t count = namer_names(namer, &candidate->frame, &names);

	wrappers->stacks++;
	for (size_t i = 0; i < count; i++) {
		const bool last = i + 1 == count;
		const char *key = key_of(&names[i]);

		if (!key || origin_is_language(&names[i]) ||
		    !strcmp(key, site->function->name) ||
		    (last && !candidate->has_caller))
			continue;
		add(wrappers, key,
		    last ? &candidate->caller : &candidate->frame);
	}
}

void wrappers_find(struct wrappers *wrappers, const struct heap *heap,
		   const struct stacks *stacks, struct namer *namer)
{
	struct wrapper_candidate candidate;
	struct seen *all = NULL;

	forget(wrappers);
	(void)gather(heap, stacks, &all, NULL);
	for (size_t i = 1; i <= heap_site_count(heap); i++) {
		const struct site *site = heap_site(heap, i);

		if (candidate_of(stacks, site, &candidate) &&
		    was_seen(all, &candidate.frame))
			add_site(wrappers, site, &candidate, namer);
	}
	free_seen(all);
}

static bool was_found(const struct wrappers *wrappers,
		      const struct frame_name *name)
{
	const char *key = key_of(name);
	const struct wrapper *wrapper = NULL;

	if (key && wrappers->stacks >= STACKS_MIN)
		HASH_FIND_STR(wrappers->all, key, wrapper);
	return wrapper && wrapper->caller_count == CALLERS &&
	       wrapper->stacks * SHARE >= wrappers->stacks;
}

static bool is_known(const struct wrappers *wrappers,
		     const struct frame_name *name)
{
	char *const *pattern = wrappers->patterns;

	for (; pattern && *pattern; pattern++)
		if ((name->function && !fnmatch(*pattern, name->function, 0)) ||
		    (name->linkage && !fnmatch(*pattern, name->linkage, 0)))
			return true;
	return false;
}

bool wrappers_have(const struct wrappers *wrappers,
		   const struct frame_name *name)
{
	return wrappers &&
	       (is_known(wrappers, name) || was_found(wrappers, name));
}
