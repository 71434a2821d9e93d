/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "image/private.h"

/*
 * Stubs are found by decoding code, and known by the slot they jump through.
 * Section headers say where they are. When that leaves jump slots without a
 * stub, all code is searched. There the tail call of a -fno-plt function looks
 * like a stub: one for a slot of another kind is only believed to be one when
 * it stands in the table of the others.
 */

/*
 * Code is read in windows that overlap: the decoder of a stub wants to see its
 * end, and perhaps the head of the table, far before it.
 */
#define WINDOW_SIZE   (1u << 20)
#define MARGIN_BEFORE (64u << 10)
#define MARGIN_BEHIND 32u

/* Stubs begin at multiples of this, and tables of them follow closely. */
#define STUB_ALIGN 8
#define TABLE_GAP  64

/*
 * Bounds for files made to waste time: the largest programs have 200 MiB of
 * code, and a stub or two for an import.
 */
#define SEARCHED_MAX            (1ull << 30)
#define CANDIDATES_MAX(imports) (4 * (imports) + 64)

struct stub_candidate {
	struct plt_stub stub;
	struct import *import;
	bool believed;
};

struct stub_search {
	const struct image *image;
	uint64_t got;
	struct import *imports;
	const uint64_t *values;
	size_t import_count;
	struct stub_candidate *found;
	size_t count;
	size_t room;
	bool *seen;     /* for each import: among found */
	size_t awaited; /* jump slots that aren't */
	bool hasty;     /* nothing else is worth a search */
	uint64_t searched;
	uint8_t *window;
};

static int compare_slot(const void *key, const void *element)
{
	const uint64_t *slot = key;
	const struct import *import = element;

	return *slot < import->slot ? -1 : *slot > import->slot;
}

static struct import *import_of(const struct stub_search *search, uint64_t slot)
{
	return search->import_count ?
		       bsearch(&slot, search->imports, search->import_count,
			       sizeof(*search->imports), compare_slot) :
		       NULL;
}

static void add_candidate(struct stub_search *search,
			  const struct stub_candidate *candidate)
{
	bool *seen = &search->seen[candidate->import - search->imports];

	if (search->count >= CANDIDATES_MAX(search->import_count))
		return;
	search->found = xgrow(search->found, search->count, &search->room,
			      sizeof(*search->found));
	search->found[search->count++] = *candidate;
	if (!*seen && candidate->import->kind == IMPORT_JUMP_SLOT)
		search->awaited--;
	*seen = true;
}

/* Finds the stubs whose jumps begin in [from, to) of the window. */
static void search_window(struct stub_search *search, uint64_t address,
			  size_t size, size_t from, size_t to)
{
	const struct arch_ops *arch = image_arch(search->image);
	size_t at;

	for (at = from; at < to; at++) {
		struct stub_candidate candidate = { 0 };

		if (!arch->plt_stub(search->window, size, at, address,
				    search->got, &candidate.stub))
			continue;
		candidate.import = import_of(search, candidate.stub.slot);
		if (!candidate.import)
			continue;
		add_candidate(search, &candidate);
		/* A jump with a prefix would be found again without it. */
		at = candidate.stub.start + candidate.stub.size - address - 1;
	}
}

static void search_range(struct stub_search *search, uint64_t address,
			 uint64_t size)
{
	const uint64_t end = address + size;
	uint64_t start = address;
	bool last = false;

	while (!last) {
		uint64_t want = end - start;
		bool enough = search->hasty && !search->awaited;
		size_t got;

		last = want <= WINDOW_SIZE;
		got = image_read(search->image, start, search->window,
				 last ? want : WINDOW_SIZE);
		search->searched += got;
		if (got < WINDOW_SIZE || search->searched > SEARCHED_MAX)
			last = true;
		search_window(search, start, got,
			      start == address ? 0 : MARGIN_BEFORE,
			      last ? got : got - MARGIN_BEHIND);
		/* All were found, and what may follow them was looked at. */
		if (enough)
			return;
		start += got - MARGIN_BEHIND - MARGIN_BEFORE;
	}
}

static bool is_code_section(const struct image *image,
			    const struct section *section)
{
	uint64_t offset, size;

	return section->type == SHT_PROGBITS &&
	       (section->flags & SHF_EXECINSTR) && section->size &&
	       image_is_code(image, section->address) &&
	       image_offset(image, section->address, &offset, &size) &&
	       offset == section->offset && section->size <= size;
}

static bool holds_stubs(const struct section *section)
{
	return !strncmp(section->name, ".plt", 4) ||
	       !strcmp(section->name, ".iplt");
}

/*
 * The sections from the i-th on that lie close together as one range, since
 * a stub of .plt.got may only be understood from .plt. Returns how many.
 */
static size_t stub_range(const struct stub_search *search, size_t i,
			 struct section *ret)
{
	const struct sections *sections = &search->image->tables->sections;
	const struct section *section = &sections->list[i];
	size_t n = 1;

	for (*ret = *section; i + n < sections->count; n++) {
		uint64_t end = ret->address + ret->size;

		section = &sections->list[i + n];
		if (!is_code_section(search->image, section) ||
		    !holds_stubs(section) || section->address < end ||
		    section->address - end > TABLE_GAP)
			break;
		ret->size = section->address + section->size - ret->address;
	}
	return n;
}

static void search_sections(struct stub_search *search)
{
	const struct sections *sections = &search->image->tables->sections;
	struct section range;
	size_t i;

	for (i = 0; i < sections->count; i++) {
		if (!is_code_section(search->image, &sections->list[i]) ||
		    !holds_stubs(&sections->list[i]))
			continue;
		i += stub_range(search, i, &range) - 1;
		search_range(search, range.address, range.size);
	}
	for (i = 0; i < search->count; i++)
		search->found[i].believed = true;
}

static bool follows(const struct stub_candidate *a,
		    const struct stub_candidate *b)
{
	uint64_t a_end = a->stub.start + a->stub.size;

	return b->stub.start - a_end <= TABLE_GAP &&
	       a->stub.start % STUB_ALIGN == 0 &&
	       b->stub.start % STUB_ALIGN == 0;
}

static void search_segments(struct stub_search *search)
{
	const struct image_segment *segments;
	size_t count, i;

	search->hasty = true;
	segments = image_segments(search->image, &count);
	for (i = 0; i < count; i++)
		if (segments[i].executable)
			search_range(search, segments[i].address,
				     segments[i].file_size);
	for (i = 0; i < search->count; i++)
		if (search->found[i].import->kind == IMPORT_JUMP_SLOT)
			search->found[i].believed = true;
	for (i = 1; i < search->count; i++)
		if (search->found[i - 1].believed &&
		    follows(&search->found[i - 1], &search->found[i]))
			search->found[i].believed = true;
	for (i = search->count; i-- > 1;)
		if (search->found[i].believed &&
		    follows(&search->found[i - 1], &search->found[i]))
			search->found[i - 1].believed = true;
}

/*
 * When a slot has two stubs, the one that is the function's address is the
 * better one: pointers lead there, too.
 */
static void assign(struct stub_search *search)
{
	size_t i;

	for (i = 0; i < search->count; i++) {
		uint64_t start = search->found[i].stub.start;
		struct import *import = search->found[i].import;
		uint64_t value = search->values[import - search->imports];

		if (!search->found[i].believed)
			continue;
		if (start == value)
			import->canonical = true;
		if (start == value || !import->stub)
			import->stub = start;
	}
	search->count = 0;
}

/* The symbol's value is its stub's address, also where no stub is known. */
static void assign_values(struct stub_search *search)
{
	size_t i;

	for (i = 0; i < search->import_count; i++) {
		struct import *import = &search->imports[i];

		if (import->kind != IMPORT_JUMP_SLOT || import->stub ||
		    !search->values[i])
			continue;
		import->stub = search->values[i];
		import->canonical = true;
	}
}

/* i386 stubs count from the GOT, also where PT_DYNAMIC doesn't name it. */
static uint64_t find_got(const struct image *image)
{
	uint64_t got = image_got_address(image);
	const struct section *section;

	if (got)
		return got;
	section = sections_find(&image->tables->sections, ".got.plt");
	if (!section)
		section = sections_find(&image->tables->sections, ".got");
	return section ? section->address : 0;
}

static size_t count_jump_slots(const struct stub_search *search)
{
	size_t i, n = 0;

	for (i = 0; i < search->import_count; i++)
		n += search->imports[i].kind == IMPORT_JUMP_SLOT;
	return n;
}

void image_find_stubs(const struct image *image, struct import *imports,
		      const uint64_t *values, size_t count)
{
	struct stub_search search = {
		.image = image,
		.got = find_got(image),
		.imports = imports,
		.values = values,
		.import_count = count,
	};

	if (!count)
		return;
	search.awaited = count_jump_slots(&search);
	search.seen = xcalloc(count, sizeof(*search.seen));
	search.window = xmalloc(WINDOW_SIZE);
	search_sections(&search);
	assign(&search);
	if (search.awaited) {
		search_segments(&search);
		assign(&search);
	}
	assign_values(&search);
	free(search.window);
	free(search.seen);
	free(search.found);
}
