/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "naming/namer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/file.h"
#include "base/hash.h"
#include "naming/perf_map.h"
#include "naming/symbol.h"
#include "naming/tail.h"

/* Where a task stands, or has been interrupted, is looked up as it is. */
struct named_key {
	const struct code *code;
	uint64_t address;
	uint64_t how; /* exact, or the address behind a call; or a handler */
};

struct named {
	struct named_key key;
	struct frame_name *names;
	size_t count;
	struct frame_name *symbol; /* what names was at first: somebody may
				      have it still */
	bool unfinished;           /* debug information may come */
	UT_hash_handle hh;
};

struct namer {
	struct namer_options options;
	struct demangler demangler;
	struct perf_maps *perf_maps;
	struct named *named;
	struct tails *tails;
	uint64_t unfinished; /* names that were told, and may change */
};

struct namer *namer_new(const struct namer_options *options)
{
	struct namer *namer = xcalloc(1, sizeof(*namer));

	namer->options = *options;
	namer->perf_maps = perf_maps_new();
	namer->tails = tails_new(options->debuginfo);
	return namer;
}

void namer_forget(struct frame_name *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free((char *)names[i].function);
		free((char *)names[i].linkage);
		free((char *)names[i].file);
	}
	free(names);
}

static void free_named(struct named *named)
{
	if (named->symbol != named->names)
		free(named->symbol);
	namer_forget(named->names, named->count);
	free(named);
}

void namer_free(struct namer *namer)
{
	struct named *named, *next;

	if (!namer)
		return;
	HASH_ITER(hh, namer->named, named, next) {
		HASH_DEL(namer->named, named);
		free_named(named);
	}
	tails_free(namer->tails);
	perf_maps_free(namer->perf_maps);
	free(namer);
}

/* ---- symbols ---- */

/* Stubs of the PLT are no longer. */
#define STUB_SIZE 16

static const struct import *find_stub(const struct image *image,
				      uint64_t address)
{
	size_t count, i;
	const struct import *imports = image_imports(image, &count);

	for (i = 0; i < count; i++)
		if (imports[i].stub && address - imports[i].stub < STUB_SIZE)
			return &imports[i];
	return NULL;
}

static char *shown_name(struct namer *namer, const char *linkage)
{
	char *name = NULL;

	if (namer->options.demangle)
		name = demangle(&namer->demangler, linkage);
	return name ? name : xstrdup(linkage);
}

static void name_by_symbol(struct namer *namer, const struct frame *frame,
			   bool exact, struct frame_name *ret)
{
	const struct symbol *symbol =
		symbol_around(frame->code->image, frame->address - !exact);
	const struct import *stub = NULL;

	/* Nothing ends in a call there: it is where something begins. */
	if (!symbol && !exact)
		symbol = symbol_around(frame->code->image, frame->address);
	if (!symbol || !symbol->size)
		stub = find_stub(frame->code->image, frame->address - !exact);
	if (stub) {
		ret->function = xasprintf("%s@plt", stub->name);
		ret->linkage = xstrdup(ret->function);
		ret->offset = frame->address - stub->stub;
		return;
	}
	if (!symbol)
		return;
	ret->function = shown_name(namer, symbol->name);
	ret->linkage = xstrdup(symbol->name);
	ret->offset = frame->address - symbol->address;
}

/* ---- debug information ---- */

static char *copy_or_null(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

static void add_place(struct namer *namer, const struct frame *frame,
		      const struct debug_place *place, struct frame_name *ret)
{
	ret->library = frame->code->path;
	ret->file = copy_or_null(place->file);
	ret->line = place->line;
	ret->start_line = place->start_line;
	if (ret->function || !place->function)
		return;
	ret->function = shown_name(namer, place->function);
	ret->linkage = xstrdup(place->function);
}

/* The symbol names what was not inlined; the rest comes before it. */
static void add_places(struct namer *namer, const struct frame *frame,
		       bool exact, struct named *named)
{
	const struct debug_place *places;
	struct frame_name *names;
	int count, i;

	if (!namer->options.debuginfo)
		return;
	count = debuginfo_places(namer->options.debuginfo, frame->code->image,
				 frame->address - !exact, &places);
	named->unfinished = count == -EAGAIN;
	namer->unfinished += named->unfinished;
	if (count <= 0)
		return;
	names = xcalloc(count, sizeof(*names));
	names[count - 1] = named->names[0];
	for (i = 0; i < count; i++) {
		add_place(namer, frame, &places[i], &names[i]);
		names[i].inlined = i < count - 1;
	}
	named->names = names;
	named->count = count;
}

/* ---- code without a file ---- */

static void name_by_perf_map(struct namer *namer, const struct frame *frame,
			     bool exact, struct frame_name *ret)
{
	taddr_t start;
	const char *name = perf_maps_find(namer->perf_maps, frame->code->pid,
					  frame->address - !exact, &start);

	if (!name)
		return;
	ret->function = shown_name(namer, name);
	ret->linkage = xstrdup(name);
	ret->offset = frame->address - start;
}

/* ---- scripts ---- */

/* What is in no function has the name of its place. */
static void name_script(const struct frame *frame, struct frame_name *ret)
{
	const struct code *code = frame->code;

	const char *file = file_base_name(code->path);

	if (code->function)
		ret->function = xstrdup(code->function);
	else if (frame->address)
		ret->function = xasprintf("%s:%" PRIu64, file, frame->address);
	else
		ret->function = xstrdup(file);
	ret->file = xstrdup(code->path);
	ret->line = frame->address;
}

/* ---- frames ---- */

static void find_names(struct namer *namer, const struct frame *frame,
		       struct named *named)
{
	bool exact = frame_is_exact(frame);
	struct frame_name *name;

	named->count = 1;
	named->symbol = named->names = xcalloc(1, sizeof(*named->names));
	name = named->names;
	name->library = frame->code->path;
	if (frame->method == FRAME_HANDLED) {
		name->function = xstrdup("<signal handler called>");
	} else if (frame->method == FRAME_SCRIPT) {
		name_script(frame, name);
	} else if (frame->code->image) {
		name_by_symbol(namer, frame, exact, name);
		add_places(namer, frame, exact, named);
	} else {
		name_by_perf_map(namer, frame, exact, name);
	}
}

static struct named_key key_of(const struct frame *frame)
{
	return (struct named_key){
		.code = frame->code,
		.address = frame->address,
		.how = frame->method == FRAME_HANDLED ? 2 :
							frame_is_exact(frame),
	};
}

static struct named *find_named(const struct namer *namer,
				const struct named_key *key)
{
	struct named *named;

	HASH_FIND(hh, namer->named, key, sizeof(*key), named);
	return named;
}

size_t namer_names(struct namer *namer, const struct frame *frame,
		   const struct frame_name **ret)
{
	const struct named_key key = key_of(frame);
	struct named *named = find_named(namer, &key);

	if (!named) {
		named = xcalloc(1, sizeof(*named));
		named->key = key;
		find_names(namer, frame, named);
		HASH_ADD(hh, namer->named, key, sizeof(key), named);
	} else if (named->unfinished) {
		add_places(namer, frame, frame_is_exact(frame), named);
	}
	*ret = named->names;
	return named->count;
}

bool namer_teach(struct namer *namer, const struct frame *frame,
		 struct frame_name *names, size_t count)
{
	const struct named_key key = key_of(frame);
	struct named *named = find_named(namer, &key);

	if (named) {
		namer_forget(names, count);
		return false;
	}
	named = xcalloc(1, sizeof(*named));
	named->key = key;
	named->symbol = named->names = names;
	named->count = count;
	for (size_t i = 0; i < count; i++)
		names[i].library = frame->code->path;
	HASH_ADD(hh, namer->named, key, sizeof(key), named);
	return true;
}

/* ---- tail calls ---- */

_Static_assert(NAMER_TAILS_MAX == TAIL_PATH_MAX, "ways have their length");

size_t namer_tails(struct namer *namer, const struct frame *outer,
		   const struct frame *inner, const char *callee,
		   struct frame ret[NAMER_TAILS_MAX])
{
	return tails_between(namer->tails, outer, inner, callee, ret);
}

void namer_teach_tails(struct namer *namer, const struct frame *outer,
		       const struct frame *inner, const char *callee,
		       const uint64_t *addresses, size_t count)
{
	(void)tails_teach(namer->tails, outer, inner, callee, addresses, count);
}

struct frame *namer_frames(struct namer *namer, const struct stacks *stacks,
			   stack_id stack, const char *callee,
			   size_t *count_ret)
{
	size_t depth = stacks_depth(stacks, stack), room = depth + 1, used = 0;
	struct frame *found CLEANUP(xfree_cleanup) =
		xcalloc(depth + 1, sizeof(*found));
	struct frame *all = xcalloc(room, sizeof(*all));

	depth = stacks_frames(stacks, stack, found, depth);
	for (size_t i = 0; i < depth; i++) {
		struct frame between[NAMER_TAILS_MAX];
		size_t count = namer_tails(namer, &found[i],
					   i ? &found[i - 1] : NULL, callee,
					   between);

		if (count) {
			room += count;
			all = xreallocarray(all, room, sizeof(*all));
			memcpy(all + used, between, count * sizeof(*all));
			used += count;
		}
		all[used++] = found[i];
	}
	*count_ret = used;
	return all;
}

uint64_t namer_unfinished(const struct namer *namer)
{
	return namer->unfinished + tails_unfinished(namer->tails);
}

/* ---- many frames at once ---- */

/* A frame whose places are to be asked for. */
struct wanted_name {
	struct image *image;
	uint64_t address;
};

static int compare_wanted(const void *a, const void *b)
{
	const struct wanted_name *x = a, *y = b;

	if (x->image != y->image)
		return (uintptr_t)x->image < (uintptr_t)y->image ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

static size_t choose(const struct namer *namer, const struct frame *frames,
		     size_t count, struct wanted_name *ret)
{
	size_t i, n = 0;

	for (i = 0; i < count; i++) {
		const struct named_key key = key_of(&frames[i]);

		const struct named *named = find_named(namer, &key);

		if (!frames[i].code->image || (named && !named->unfinished))
			continue;
		ret[n].image = frames[i].code->image;
		ret[n++].address =
			frames[i].address - !frame_is_exact(&frames[i]);
	}
	qsort(ret, n, sizeof(*ret), compare_wanted);
	return n;
}

/* True when places are at hand for all frames that have any. */
static bool ask(struct namer *namer, const struct frame *frames, size_t count,
		bool wait)
{
	struct debuginfo *debuginfo = namer->options.debuginfo;
	struct wanted_name *wanted CLEANUP(xfree_cleanup) = NULL;
	uint64_t *addresses CLEANUP(xfree_cleanup) = NULL;
	size_t i, n, left;
	bool all = true;

	if (!debuginfo || !count)
		return true;
	wanted = xcalloc(count, sizeof(*wanted));
	addresses = xcalloc(count, sizeof(*addresses));
	left = choose(namer, frames, count, wanted);
	for (i = 0; all && i < left; i += n) {
		for (n = 0; i + n < left; n++) {
			if (wanted[i + n].image != wanted[i].image)
				break;
			addresses[n] = wanted[i + n].address;
		}
		if (wait)
			debuginfo_prepare_places(debuginfo, wanted[i].image,
						 addresses, n);
		else
			all = debuginfo_prefetch_places(debuginfo,
							wanted[i].image,
							addresses, n);
	}
	return all;
}

void namer_prepare(struct namer *namer, const struct frame *frames,
		   size_t count)
{
	tails_wait(namer->tails, true);
	ask(namer, frames, count, true);
}

bool namer_prefetch(struct namer *namer, const struct frame *frames,
		    size_t count)
{
	tails_wait(namer->tails, false);
	return ask(namer, frames, count, false);
}

bool namer_is_reading(const struct namer *namer)
{
	return namer->options.debuginfo &&
	       debuginfo_is_reading(namer->options.debuginfo);
}
