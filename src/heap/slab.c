/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/slab.h"

#include <string.h>

#include "base/file.h"
#include "base/interpreter.h"
#include "naming/symbol.h"

/* What cuts slabs is so near to what acquires them. */
#define SLAB_DEPTH 6

static const struct slab python_arena = {
	"an arena of Python's, in which objects of up to 512 bytes lie",
	"PYTHONMALLOC=malloc",
};

static const struct slab v8_heap = {
	"a piece of V8's heap, in which JavaScript's objects lie",
	"--heapsnapshot-signal=SIGUSR2",
};

/* How the names of those begin, for the linker, that get V8 its memory: pages, and
   what it notes about each; address space for them. */
static const char *const v8_allocators[] = {
	"_ZN2v88internal15MemoryAllocator",
	"_ZN2v88internal17VirtualMemoryCage",
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

static bool is_of_v8(struct namer *namer, const struct frame *frame)
{
	const char *name = symbol_of(namer, frame);

	for (size_t i = 0; name && i < ARRAY_SIZE(v8_allocators); i++)
		if (!strncmp(name, v8_allocators[i], strlen(v8_allocators[i])))
			return true;
	return false;
}

const struct slab *slab_of_collector(const struct stacks *stacks,
				     struct namer *namer,
				     const struct site *site)
{
	struct frame frames[SLAB_DEPTH];
	size_t count = 0;

	if (stacks)
		count = stacks_frames(stacks, site->stack, frames,
				      ARRAY_SIZE(frames));
	for (size_t i = 0; i < count; i++)
		if (is_of_v8(namer, &frames[i]))
			return &v8_heap;
	return NULL;
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
