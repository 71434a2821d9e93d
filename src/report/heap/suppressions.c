/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/suppressions.h"

#include <stdlib.h>

#include "base/cxx_name.h"
#include "base/file.h"
#include "base/xalloc.h"
#include "report/heap/suppressions_private.h"
#include "report/memory/names.h"

/* Which patterns mean a name, worked out once. */
struct judged_name {
	const void *name; /* frame_name or family_function */
	UT_hash_handle hh;
	bool meant[]; /* by the pattern's number */
};

struct suppressions *suppressions_new(void)
{
	return xcalloc(1, sizeof(struct suppressions));
}

void suppression_fini(struct suppression *suppression)
{
	for (unsigned i = 0; i < suppression->count; i++)
		free(suppression->patterns[i]);
	free(suppression->text);
}

void suppressions_free(struct suppressions *all)
{
	struct judged_name *known, *next;

	if (!all)
		return;
	for (size_t i = 0; i < all->count; i++)
		suppression_fini(&all->list[i]);
	free(all->list);
	HASH_ITER(hh, all->known, known, next) {
		HASH_DEL(all->known, known);
		free(known);
	}
	free(all);
}

size_t suppressions_count(const struct suppressions *all)
{
	return all->count;
}

const char *suppressions_text(const struct suppressions *all, size_t number)
{
	return all->list[number - 1].text;
}

/* ---- what a frame is held against ---- */

#define DEMANGLED 4
#define ALIASES   (3 + DEMANGLED)

/* By what one frame may be meant. */
struct aliases {
	const char *names[ALIASES];
};

/* Brackets mean themselves: C++ has operator new[]. Going back to the last
   star alone is enough, and takes no time without bounds. */
static bool matches_name(const char *pattern, const char *name)
{
	const char *star = NULL, *from = name;

	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			from = name;
		} else if (*pattern == '?' || *pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static bool is_meant(const struct aliases *aliases, const char *pattern)
{
	for (size_t i = 0; i < ALIASES; i++)
		if (aliases->names[i] && *aliases->names[i] &&
		    matches_name(pattern, aliases->names[i]))
			return true;
	return false;
}

static const struct judged_name *
know(struct suppressions *all, const void *name, const struct aliases *aliases)
{
	struct judged_name *known =
		xcalloc(1, sizeof(*known) + all->pattern_count);
	size_t number = 0;

	known->name = name;
	for (size_t i = 0; i < all->count; i++)
		for (unsigned k = 0; k < all->list[i].count; k++)
			known->meant[number++] =
				is_meant(aliases, all->list[i].patterns[k]);
	HASH_ADD_PTR(all->known, name, known);
	return known;
}

/* C++'s and Rust's: with and without their parameters, and two of them as
   people write them. */
static void add_demangled(struct suppressions *all, const char *symbol,
			  char *ret[DEMANGLED])
{
	for (size_t i = 0; i < DEMANGLED; i++)
		ret[i] = demangle_exactly(&all->demangler, symbol, i & 1);
	for (size_t i = 0; i < DEMANGLED; i += 3)
		if (ret[i])
			cxx_name_shorten(ret[i]);
}

static const struct judged_name *known_frame(struct suppressions *all,
					     const void *key,
					     const struct frame_name *name)
{
	const char *library = name->library ? name->library : "";
	char *demangled[DEMANGLED] = { NULL };
	struct aliases aliases = { { name->function, name->linkage,
				     file_base_name(library) } };
	const struct judged_name *known;

	HASH_FIND_PTR(all->known, &key, known);
	if (known)
		return known;
	if (name->linkage)
		add_demangled(all, name->linkage, demangled);
	for (size_t i = 0; i < DEMANGLED; i++)
		aliases.names[ALIASES - 1 - i] = demangled[i];
	known = know(all, key, &aliases);
	for (size_t i = 0; i < DEMANGLED; i++)
		free(demangled[i]);
	return known;
}

/* ---- stacks ---- */

/* All frames of a stack, the allocator first. */
struct trace {
	const struct judged_name **list;
	size_t count, room;
};

static void add(struct trace *trace, const struct judged_name *known)
{
	trace->list = xgrow(trace->list, trace->count, &trace->room,
			    sizeof(*trace->list));
	trace->list[trace->count++] = known;
}

static struct trace trace_of(struct suppressions *all,
			     const struct heap_report_config *config,
			     const struct site *site)
{
	struct trace trace = { 0 };
	const struct frame_name allocator = { .linkage = site->function->name };
	size_t count;
	struct frame *frames CLEANUP(xfree_cleanup) =
		namer_frames(config->namer, config->stacks, site->stack,
			     site->function->name, &count);

	add(&trace, known_frame(all, site->function, &allocator));
	for (size_t i = 0; i < count; i++) {
		const struct frame_name *names;
		size_t inlined = namer_names(config->namer, &frames[i], &names);

		for (size_t k = 0; k < inlined; k++)
			add(&trace, known_frame(all, &names[k], &names[k]));
	}
	return trace;
}

/* One frame may be what several patterns mean: a function, and its library.
   first: the number of the line's first pattern. */
static bool matches(const struct suppression *suppression, size_t first,
		    const struct trace *trace)
{
	unsigned next = 0;

	for (size_t i = 0; i < trace->count; i++)
		while (next < suppression->count &&
		       trace->list[i]->meant[first + next])
			next++;
	return next == suppression->count;
}

struct suppression_search {
	struct suppressions *all;
	const struct heap_report_config *config;
	const struct heap *heap;
	bool prepared;
};

static unsigned find(void *context, const struct site *site)
{
	struct suppression_search *search = context;
	struct suppressions *all = search->all;
	struct trace trace;
	unsigned found = 0;
	size_t first = 0;

	if (!search->prepared)
		heap_names_prepare_all(search->config, search->heap,
				       UNWIND_DEPTH_MAX);
	search->prepared = true;
	trace = trace_of(all, search->config, site);
	for (size_t i = 0; !found && i < all->count; i++) {
		if (matches(&all->list[i], first, &trace))
			found = i + 1;
		first += all->list[i].count;
	}
	free(trace.list);
	return found;
}

void suppressions_apply(struct suppressions *all,
			const struct heap_report_config *config,
			struct heap *heap)
{
	struct suppression_search search = { .all = all,
					     .config = config,
					     .heap = heap };

	heap_suppress(heap, find, &search);
}
