/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/slab.h"

#include <string.h>

#include "base/file.h"
#include "base/interpreter.h"
#include "naming/symbol.h"

/* What cuts slabs is so near to what acquires them. */
#define SLAB_DEPTH  6
#define OWNER_DEPTH 32 /* and who asks for an object's memory, to its maker */

static const struct slab python_arena = {
	"an arena of Python's, in which objects of up to 512 bytes lie",
	"PYTHONMALLOC=malloc",
};

static const struct slab v8_heap = {
	"a piece of V8's heap, in which JavaScript's objects lie",
	"--heapsnapshot-signal=SIGUSR2",
};

/* How the names of those begin, for the linker, that get V8 its memory: pages, and
   what it notes about each, at first and when pointers are written into it; address
   space for them. */
static const char *const v8_allocators[] = {
	"_ZN2v88internal15MemoryAllocator",
	"_ZN2v88internal17VirtualMemoryCage",
	"_ZN2v88internal11MemoryChunk",
	"_ZN2v88internal45Heap_CombinedGenerationalAndSharedBarrierSlow",
	"_ZN2v88internal4Heap40CombinedGenerationalAndSharedBarrierSlow",
	"_ZN2v88internal4Heap31InsertIntoRememberedSetFromCode",
	NULL,
};

/* Those by which JavaScript calls what is written in C++, and what node makes for
   objects of JavaScript. */
static const char *const v8_owners[] = {
	"_ZN2v88internal21Builtin_HandleApiCall",
	"_ZN4node10BaseObject",
	NULL,
};

/* Who asks for a slab, in whose code, by what. */
static const struct slab_kind {
	const char *function;
	const char *file;     /* how its name begins */
	const char *acquirer; /* NULL: any */
	struct slab slab;
} kinds[] = {
	{ "g_slice_alloc",
	  "libglib-2.0.",
	  "posix_memalign",
	  { "a slab of GLib's g_slice", "G_SLICE=always-malloc" } },
	{ "Perl_more_sv",
	  "perl",
	  NULL,
	  { "a slab of Perl's, in which values lie", "-DPURIFY" } },
	{ "Perl_more_bodies",
	  "perl",
	  NULL,
	  { "a slab of Perl's, in which bodies of values lie", "-DPURIFY" } },
};

static bool is_of_kind(const struct slab_kind *kind, const struct site *site,
		       const char *file, const char *name)
{
	bool library = !strncmp(file, "lib", 3) &&
		       strncmp(kind->file, "lib", 3);

	return !strcmp(name, kind->function) &&
	       !strncmp(library ? file + 3 : file, kind->file,
			strlen(kind->file)) &&
	       (!kind->acquirer ||
		!strcmp(site->function->name, kind->acquirer));
}

static const struct slab *of_frame(struct namer *namer, const struct site *site,
				   const struct frame *frame)
{
	const char *file = file_base_name(frame->code->path);
	const struct frame_name *names;
	size_t count = namer_names(namer, frame, &names);

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
			if (names[i].function &&
			    is_of_kind(&kinds[k], site, file,
				       names[i].function))
				return &kinds[k].slab;
	return NULL;
}

/* They are of one size: 1 MiB, 256 KiB before Python 3.10. */
static bool is_python_arena(const struct site *site)
{
	return site->function->family->granularity && site->library &&
	       interpreter_is_python(site->library) &&
	       (site->alloc_bytes == site->alloc_blocks << 20 ||
		site->alloc_bytes == site->alloc_blocks << 18);
}

/* As the linker knows it. Nobody waits for debug information: without a file
   there is none. */
static const char *symbol_of(struct namer *namer, const struct frame *frame)
{
	const struct image *image = frame->code->image;
	const struct frame_name *names;
	const struct symbol *symbol;
	size_t count;

	if (image) {
		symbol = symbol_around(image, frame->address);
		return symbol ? symbol->name : NULL;
	}
	count = namer ? namer_names(namer, frame, &names) : 0;
	return count ? names[count - 1].linkage : NULL;
}

static bool begins_with_any(const char *name, const char *const *heads)
{
	for (; *heads; heads++)
		if (!strncmp(name, *heads, strlen(*heads)))
			return true;
	return false;
}

/* Whether one of the innermost frames is of a function whose name begins so. */
static bool is_below(const struct stacks *stacks, struct namer *namer,
		     const struct site *site, size_t depth,
		     const char *const *heads)
{
	struct frame frames[OWNER_DEPTH];
	size_t count =
		stacks ? stacks_frames(stacks, site->stack, frames, depth) : 0;

	for (size_t i = 0; i < count; i++) {
		const char *name = symbol_of(namer, &frames[i]);

		if (name && begins_with_any(name, heads))
			return true;
	}
	return false;
}

const struct slab *slab_of_collector(const struct stacks *stacks,
				     struct namer *namer,
				     const struct site *site)
{
	return is_below(stacks, namer, site, SLAB_DEPTH, v8_allocators) ?
		       &v8_heap :
		       NULL;
}

/* What the kernel or the C library keeps for a program is given back by who asked
   for it, whatever becomes of JavaScript's objects. */
static bool is_of_system(const struct family *family)
{
	static const char *const names[] = { "descriptors", "files",
					     "directories", "threads",
					     "thread keys" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(family->name, names[i]))
			return true;
	return false;
}

bool slab_owner_is_collected(const struct stacks *stacks, struct namer *namer,
			     const struct site *site)
{
	return !is_of_system(site->function->family) &&
	       is_below(stacks, namer, site, OWNER_DEPTH, v8_owners);
}

const struct slab *slab_of(const struct stacks *stacks, struct namer *namer,
			   const struct site *site)
{
	const struct slab *collected;
	struct frame frames[SLAB_DEPTH];
	size_t count;

	if (!site->alloc_blocks || !site->function->family->has_size)
		return NULL;
	if (is_python_arena(site))
		return &python_arena;
	collected = slab_of_collector(stacks, namer, site);
	if (collected)
		return collected;
	count = stacks_frames(stacks, site->stack, frames, ARRAY_SIZE(frames));
	for (size_t i = 0; i < count; i++) {
		const struct slab *slab = of_frame(namer, site, &frames[i]);

		if (slab)
			return slab;
	}
	return NULL;
}
