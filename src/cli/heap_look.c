/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/heap_look.h"

#include <string.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "cli/complain.h"
#include "heap/beginnings.h"
#include "heap/look.h"
#include "memory/object_heap.h"
#include "memory/pages.h"
#include "report/format/amounts.h"
#include "sysdeps/linux/procmem.h"

/* To look at more while the process runs would keep it waiting at its calls. */
#define MOST_RUNNING ((size_t)1 << 20)

/* Bytes that are read for types: while it runs, as above; and as heap_reach.c
   reads when it was let go of. */
#define MOST_READ_RUNNING (UINT64_C(256) << 20)
#define MOST_READ_LEFT    (UINT64_C(4) << 30)

struct glance {
	const struct heap *heap;
	struct heap_look *look;
	struct memory *memory;
	const struct mappings *mappings;
};

/* ---- types ---- */

#define WORD sizeof(uint64_t)

static void tell_held(struct glance *glance, const uint8_t *bytes, size_t size,
		      const char *type)
{
	uint64_t word;

	for (size_t at = 0; at + WORD <= size; at += WORD) {
		memcpy(&word, bytes + at, WORD);
		heap_look_tell(glance->look, word, LOOK_HELD, type);
	}
}

static void found(void *context, const struct object_found *object)
{
	struct glance *glance = context;

	heap_look_tell(glance->look, object->address, LOOK_OWN, object->type);
	tell_held(glance, object->bytes, object->seen, object->type);
	heap_look_tell(glance->look, object->apart, LOOK_HELD, object->type);
}

static void found_empty(void *context, taddr_t address)
{
	struct glance *glance = context;

	heap_look_tell(glance->look, address, LOOK_EMPTY, NULL);
}

static bool has_handle(const struct heap_block *block)
{
	const struct family *family = block->site->function->family;

	return family->has_size && !family->granularity;
}

/* Those of the C library may be large objects of Python's. */
static void add_blocks(const struct heap *heap, struct blocks *ret)
{
	struct heap_walk walk = { 0 };
	struct heap_block block;

	while (heap_next_block(heap, &walk, &block)) {
		const uint64_t units =
			(block.size + BLOCK_UNIT - 1) / BLOCK_UNIT;

		if (has_handle(&block) && units <= UINT32_MAX)
			blocks_add(ret, &(struct block){
						.address = block.handle,
						.units = units,
						.behind = units * BLOCK_UNIT -
							  block.size,
					});
	}
}

/* What objects keep apart may have parts itself: a table of Ruby's its entries. */
#define PART_MOST 256

static void tell_parts(struct glance *glance)
{
	struct heap_walk walk = { 0 };
	struct heap_block block;
	uint8_t bytes[PART_MOST];

	while (heap_next_block(glance->heap, &walk, &block))
		if (has_handle(&block) && block.size <= PART_MOST &&
		    heap_look_how(glance->look, block.handle) == LOOK_HELD &&
		    !memory_read(glance->memory, block.handle, bytes,
				 block.size))
			tell_held(glance, bytes, block.size,
				  heap_look_type(glance->look, block.handle));
}

static void look_for_types(struct glance *glance)
{
	const struct object_observer observer = {
		.found = found,
		.empty = found_empty,
		.context = glance,
	};
	struct object_heap heaps[OBJECT_LANGUAGES];
	struct blocks blocks;

	blocks_init(&blocks);
	add_blocks(glance->heap, &blocks);
	object_heaps_read(glance->memory, glance->mappings, &blocks, &observer,
			  heaps);
	object_heaps_fini(heaps);
	blocks_fini(&blocks);
	tell_parts(glance);
}

/* ---- pages ---- */

static void look_for_pages(struct glance *glance, const struct pages *pages)
{
	struct heap_walk walk = { 0 };
	struct heap_block block;

	while (heap_next_block(glance->heap, &walk, &block)) {
		const uint64_t count = block.weight.count;
		struct site_look *site =
			heap_look_site(glance->look, block.site);
		struct page_sums sums;

		if (!site || !block.site->function->family->has_size)
			continue;
		sums = pages_count(pages, block.handle,
				   block.handle + block.size);
		site->bytes += count * block.size;
		site->resident += count * sums.resident;
		site->huge += count * sums.huge;
		site->swapped += count * sums.swapped;
		site->huge_known = pages->huge_known;
	}
}

/* ---- what is in them ---- */

/* Each is a system call. */
#define MOST_BEGINNINGS_RUNNING ((size_t)1 << 17)
#define MOST_BEGINNINGS_LEFT    ((size_t)1 << 24)

/* To read what is swapped out would bring it in. */
static bool is_at_hand(const struct pages *pages, uint64_t start, uint64_t size)
{
	return pages->unknown ||
	       !pages_count(pages, start, start + size).swapped;
}

static void read_beginnings(struct glance *glance, const struct pages *pages,
			    size_t most)
{
	struct beginnings *beginnings = beginnings_new();
	uint8_t *bytes CLEANUP(xfree_cleanup) = xmalloc(most);
	struct heap_walk walk = { 0 };
	struct heap_block block;

	while (heap_next_block(glance->heap, &walk, &block)) {
		const size_t size = block.size < most ? block.size : most;

		if (size && has_handle(&block) &&
		    is_at_hand(pages, block.handle, size) &&
		    !memory_read(glance->memory, block.handle, bytes, size))
			beginnings_add(beginnings, block.handle, bytes, size);
	}
	beginnings_seal(beginnings);
	heap_look_keep(glance->look, beginnings);
}

/* Whether it takes no longer than it may. */
static bool may_read_beginnings(const struct watched *process, size_t most)
{
	const bool runs = process->state == WATCHED_RUNNING;
	const size_t limit = runs ? MOST_BEGINNINGS_RUNNING :
				    MOST_BEGINNINGS_LEFT;
	const uint64_t bytes = runs ? MOST_READ_RUNNING : MOST_READ_LEFT;
	const size_t count = heap_live_count(process->heap);

	if (count <= limit && count <= bytes / most)
		return true;
	complain(0,
		 "--data: what %zu blocks of process %d begin with isn't "
		 "read%s: it would take too long",
		 count, (int)process->pid, runs ? " while it runs" : "");
	return false;
}

static void refuse_types(struct heap_look *look, bool runs, uint64_t bytes,
			 uint64_t most)
{
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };

	amounts_add_count(&why, bytes, "byte");
	strbuf_puts(&why, " would be read for that");
	strbuf_puts(&why, runs ? " while the process runs" : "");
	strbuf_puts(&why, ", and ");
	amounts_add_number(&why, most);
	strbuf_puts(&why, " are the most");
	heap_look_refuse_types(look, strbuf_text(&why));
}

static struct heap_look *new_look(const struct watched *process, bool typed,
				  const struct mappings *mappings,
				  const struct pages *pages)
{
	const bool runs = process->state == WATCHED_RUNNING;
	const uint64_t most = runs ? MOST_READ_RUNNING : MOST_READ_LEFT;
	const uint64_t bytes = typed ? object_heaps_to_read(mappings, pages) :
				       0;
	struct heap_look *look =
		heap_look_new(process->heap, typed && bytes <= most);

	if (bytes > most)
		refuse_types(look, runs, bytes, most);
	return look;
}

void heap_look_at(const struct watched *process, bool typed, size_t data)
{
	const bool runs = process->state == WATCHED_RUNNING;
	struct glance glance = { .heap = process->heap };
	struct mappings mappings;
	struct procmem memory;
	struct pages pages;

	if ((runs && heap_live_count(process->heap) > MOST_RUNNING) ||
	    mappings_read(process->pid, false, &mappings))
		return;
	procmem_init(&memory, process->pid);
	/* To read what is swapped out brings it in: types come later. */
	if (pages_read(&mappings, &pages))
		pages.unknown = true;
	glance.look = new_look(process, typed, &mappings, &pages);
	glance.memory = &memory.memory;
	glance.mappings = &mappings;
	if (!pages.unknown)
		look_for_pages(&glance, &pages);
	if (heap_look_is_typed(glance.look))
		look_for_types(&glance);
	if (data && may_read_beginnings(process, data))
		read_beginnings(&glance, &pages, data);
	pages_fini(&pages);
	heap_set_look(process->heap, glance.look,
		      heap_time(process->heap, clock_now()));
	procmem_fini(&memory);
	mappings_fini(&mappings);
}
