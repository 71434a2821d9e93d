/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "image/private.h"

/*
 * Jumps through GOT slots that have no stub: tail calls of -fno-plt code; and what
 * else code does with these slots, and with those that hold a function's address. All
 * code is searched for the instruction; that other bytes look like one, with a
 * displacement that leads to just such a slot, doesn't happen.
 */

#define WINDOW_SIZE (1u << 20)
#define OVERLAP     16u

struct jump_search {
	const struct image *image;
	const struct import **imports; /* not for calls alone, by slot */
	size_t import_count;
	struct slot_uses *uses;
	struct slot_jump *found;
	size_t count;
	size_t room;
};

static int compare_slots(const void *a, const void *b)
{
	const struct import *const *x = a, *const *y = b;

	return ((*x)->slot > (*y)->slot) - ((*x)->slot < (*y)->slot);
}

static int compare_slot(const void *key, const void *element)
{
	const uint64_t *slot = key;
	const struct import *const *import = element;

	return (*slot > (*import)->slot) - (*slot < (*import)->slot);
}

const struct import **import_by_slot(const struct import **imports,
				     size_t count, uint64_t slot)
{
	return bsearch(&slot, imports, count, sizeof(*imports), compare_slot);
}

static void visit_jump(struct jump_search *search, uint64_t address,
		       uint64_t slot)
{
	const struct import **import =
		import_by_slot(search->imports, search->import_count, slot);

	if (!import || (*import)->stub)
		return;
	search->found = xgrow(search->found, search->count, &search->room,
			      sizeof(*search->found));
	search->found[search->count++] =
		(struct slot_jump){ .address = address, .import = *import };
}

static void search_window(struct jump_search *search, const uint8_t *code,
			  size_t size, size_t end, uint64_t address)
{
	const struct arch_ops *arch = image_arch(search->image);
	uint64_t got = image_got_address(search->image), slot;
	const uint8_t *p = code;

	while ((p = memchr(p, arch->slot_jump_byte, code + end - p))) {
		size_t at = p++ - code;

		if (at < arch->slot_jump_byte_at)
			continue;
		at -= arch->slot_jump_byte_at;
		if (arch->slot_jump(code, size, at, address, got, &slot))
			visit_jump(search, address + at, slot);
	}
	slot_uses_search(search->uses, code, size, end, address);
}

static void search_segment(struct jump_search *search,
			   const struct image_segment *segment)
{
	uint8_t *window CLEANUP(xfree_cleanup) = xmalloc(WINDOW_SIZE);
	uint64_t done = 0;

	while (done < segment->file_size) {
		uint64_t left = segment->file_size - done;
		size_t got =
			image_read(search->image, segment->address + done,
				   window,
				   left < WINDOW_SIZE ? left : WINDOW_SIZE);
		bool last = got < WINDOW_SIZE;
		size_t end = last ? got : got - OVERLAP;

		search_window(search, window, got, end,
			      segment->address + done);
		if (last)
			break;
		done += end;
	}
}

static void choose_imports(struct jump_search *search)
{
	size_t count, i;
	const struct import *imports = image_imports(search->image, &count);

	search->imports = xcalloc(count, sizeof(*search->imports));
	for (i = 0; i < count; i++)
		if (!imports[i].stub || imports[i].kind == IMPORT_GLOB_DAT)
			search->imports[search->import_count++] = &imports[i];
	qsort(search->imports, search->import_count, sizeof(*search->imports),
	      compare_slots);
}

static void search_all(const struct image *image, struct tables *tables)
{
	struct jump_search search = { .image = image };
	struct landings *landings;
	size_t count, i;
	const struct image_segment *segments = image_segments(image, &count);

	choose_imports(&search);
	landings = search.import_count ? landings_new(image) : NULL;
	search.uses = slot_uses_new(image_arch(image), search.imports,
				    search.import_count, landings);
	for (i = 0; search.import_count && i < count; i++)
		if (segments[i].executable)
			search_segment(&search, &segments[i]);
	tables->called_slots =
		slot_uses_end(search.uses, &tables->called_slot_count);
	landings_free(landings);
	free(search.imports);
	tables->slot_jumps = search.found;
	tables->slot_jump_count = search.count;
}

static const struct tables *searched(const struct image *image)
{
	struct tables *tables = image_basis(image);

	if (!tables->has_slot_jumps)
		search_all(image, tables);
	tables->has_slot_jumps = true;
	return tables;
}

const struct slot_jump *image_slot_jumps(const struct image *image,
					 size_t *count_ret)
{
	const struct tables *tables = searched(image);

	*count_ret = tables->slot_jump_count;
	return tables->slot_jumps;
}

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

bool image_slot_is_only_called(const struct image *image, uint64_t slot)
{
	const struct tables *tables = searched(image);

	return tables->called_slot_count &&
	       bsearch(&slot, tables->called_slots, tables->called_slot_count,
		       sizeof(slot), compare_addresses);
}
