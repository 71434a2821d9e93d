/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/hash.h"
#include "memory/graph.h"
#include "recording/block.h"
#include "recording/numbers.h"
#include "snapshot/format.h"
#include "snapshot/snapshot.h"

/* A part that has more goes on in another block. */
#define PIECE (1u << 20)

/* So many places have names. */
#define PLACES_MAX (1u << 18)

struct known_name {
	char *text;
	uint64_t number;
	UT_hash_handle hh;
};

struct root {
	taddr_t where;
	uint32_t to;
	uint8_t kind;
};

struct writer {
	const struct snapshot *snapshot;
	struct strbuf *out;
	struct known_name *known;
	struct strbuf names, body;
	uint32_t name_count, count, sequence; /* of entries not written yet */
	enum snapshot_part part;
	uint32_t *numbers; /* of the heap's blocks: those that are kept */
	uint32_t blocks;
	taddr_t *places; /* that have names, by address */
	size_t place_count, place_room;
	struct root *found; /* pointers outside of blocks, until these are
			       written */
	size_t found_count, found_room;
	uint64_t pointers, roots;
	uint64_t last; /* what the next entry is counted from */
	uint64_t from; /* the block of which pointers are being added */
};

/* ---- blocks of the file ---- */

static void add_number(struct strbuf *out, uint64_t number, unsigned size)
{
	for (; size; size--, number >>= 8)
		strbuf_putc(out, (char)number);
}

void snapshot_head_add(struct strbuf *out)
{
	const size_t from = out->length;

	strbuf_add(out, SNAPSHOT_MAGIC, SNAPSHOT_MAGIC_SIZE);
	add_number(out, SNAPSHOT_ORDER, 4);
	add_number(out, SNAPSHOT_VERSION, 2);
	add_number(out, SNAPSHOT_HEAD_SIZE, 2);
	add_number(out, 0, 4);
	add_number(out,
		   crc32(0, (const uint8_t *)out->text + from,
			 SNAPSHOT_HEAD_SIZE - 4),
		   4);
}

static void put_block(struct writer *writer, enum snapshot_part part,
		      struct strbuf *entries, uint32_t *count)
{
	CLEANUP(strbuf_fini) struct strbuf bytes = { 0 };
	const struct block_head head = {
		.kind = BLOCK_SNAPSHOT,
		.sequence = writer->sequence,
		.count = *count,
	};

	if (!*count)
		return;
	put_varint(&bytes, part);
	strbuf_add(&bytes, entries->text, entries->length);
	block_add(writer->out, &head, bytes.text, bytes.length);
	writer->sequence++;
	strbuf_clear(entries);
	*count = 0;
}

/* Names come before what is called by them. */
static void flush(struct writer *writer)
{
	put_block(writer, PART_NAMES, &writer->names, &writer->name_count);
	put_block(writer, writer->part, &writer->body, &writer->count);
}

static void begin(struct writer *writer, enum snapshot_part part)
{
	flush(writer);
	writer->part = part;
	writer->last = 0;
}

static void end_entry(struct writer *writer)
{
	writer->count++;
	if (writer->body.length >= PIECE || writer->names.length >= PIECE)
		flush(writer);
}

static void put(struct writer *writer, uint64_t number)
{
	put_varint(&writer->body, number);
}

static void put_name(struct writer *writer, const char *text)
{
	struct known_name *name;

	if (!text) {
		put(writer, 0);
		return;
	}
	HASH_FIND_STR(writer->known, text, name);
	if (!name) {
		name = xcalloc(1, sizeof(*name));
		name->text = xstrdup(text);
		name->number = HASH_COUNT(writer->known) + 1;
		HASH_ADD_KEYPTR(hh, writer->known, name->text, strlen(text),
				name);
		put_text(&writer->names, text);
		writer->name_count++;
	}
	put(writer, name->number);
}

/* ---- the process ---- */

static void write_process(struct writer *writer)
{
	const struct snapshot *snapshot = writer->snapshot;
	const struct memory_view *view = &snapshot->view;
	const struct leaks *leaks = &snapshot->leaks;

	begin(writer, PART_PROCESS);
	put(writer, (snapshot->has_blocks ? PROCESS_HEAP : 0) |
			    (leaks->copied ? PROCESS_COPIED : 0) |
			    (view->touched.sure ? PROCESS_SURE : 0) |
			    (view->moved ? PROCESS_MOVED : 0) |
			    (leaks->picture.huge_known ? PROCESS_HUGE : 0));
	put(writer, view->pid);
	put(writer, snapshot->wall);
	put_name(writer, view->name);
	put_name(writer, view->mappings.program);
	put_name(writer, view->allocator);
	put(writer, leaks->pause_ns);
	put_name(writer, leaks->uncopied);
	put(writer, leaks->picture.bytes);
	put(writer, leaks->picture.unread);
	put(writer, leaks->reach.scan_ns);
	put(writer, view->vitals.virtual_bytes);
	put(writer, view->vitals.resident_bytes);
	put(writer, view->vitals.swapped_bytes);
	put(writer, view->touched.wait_ns);
	put(writer, view->taken);
	end_entry(writer);
}

static void put_touched(struct writer *writer, const struct mapping *mapping)
{
	const struct touched_part *part =
		touched_at(&writer->snapshot->view.touched, mapping->start);

	put(writer, part ? part->resident : 0);
	put(writer, part ? part->touched : 0);
}

static void write_mappings(struct writer *writer)
{
	const struct mappings *mappings = &writer->snapshot->view.mappings;

	begin(writer, PART_MAPPINGS);
	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *mapping = &mappings->list[i];

		put(writer, mapping->start - writer->last);
		put(writer, mapping->end - mapping->start);
		writer->last = mapping->end;
		put(writer, mapping->kind);
		put(writer,
		    (mapping->readable ? MAPPED_READABLE : 0) |
			    (mapping->writable ? MAPPED_WRITABLE : 0) |
			    (mapping->executable ? MAPPED_EXECUTABLE : 0) |
			    (mapping->shared ? MAPPED_SHARED : 0));
		put(writer, mapping->inode);
		put(writer, mapping->offset);
		put_name(writer, mapping->path);
		put(writer, mapping->resident);
		put(writer, mapping->proportional);
		put(writer, mapping->swapped);
		put(writer, mapping->anonymous);
		put(writer, mapping->huge);
		put_touched(writer, mapping);
		end_entry(writer);
	}
}

/* ---- the heap ---- */

static void write_arenas(struct writer *writer)
{
	const struct glibc *glibc = &writer->snapshot->view.glibc;

	begin(writer, PART_ARENAS);
	for (size_t i = 0; i < glibc->arena_count; i++) {
		const struct glibc_arena *arena = &glibc->arenas[i];

		put(writer, arena->address);
		put(writer, arena->main);
		put(writer, arena->system_bytes);
		put(writer, arena->system_most);
		put(writer, arena->trouble);
		put_name(writer, arena->why);
		for (unsigned s = 0; s < BLOCK_STATES; s++) {
			put(writer, arena->count[s]);
			put(writer, arena->bytes[s]);
		}
		end_entry(writer);
	}
}

static void write_shape(struct writer *writer)
{
	const struct heap_shape *shape = &writer->snapshot->view.shape;
	const struct glibc *glibc = &writer->snapshot->view.glibc;

	begin(writer, PART_HEAP);
	put(writer, (glibc->known_totals ? HEAP_TOTALS : 0) |
			    (glibc->musl ? HEAP_MUSL : 0));
	put(writer, glibc->map_count);
	put(writer, glibc->map_bytes);
	put(writer, glibc->found_maps);
	put(writer, glibc->found_map_bytes);
	put(writer, writer->snapshot->view.map_resident);
	put(writer, glibc->bad_lists);
	put(writer, glibc->caches);
	put(writer, shape->trim_resident);
	put(writer, shape->trim_virtual);
	put(writer, shape->top_resident);
	put(writer, shape->pinned_pages);
	put(writer, shape->pinned_used);
	end_entry(writer);
	begin(writer, PART_SIZES);
	for (size_t i = 0; i < shape->size_count; i++) {
		put(writer, shape->sizes[i].bytes);
		put(writer, shape->sizes[i].count);
		put(writer, shape->sizes[i].pinning);
		end_entry(writer);
	}
}

static void write_owners(struct writer *writer)
{
	const struct owners *owners = &writer->snapshot->owners;

	begin(writer, PART_OWNERS);
	for (size_t i = 0; i < owners->count; i++) {
		put_name(writer, owners->names[i]);
		end_entry(writer);
	}
}

/* ---- blocks ---- */

static void put_block_name(struct writer *writer, const struct block *block,
			   uint64_t flags)
{
	struct block_names *names = writer->snapshot->names;
	const char *class = block_names_class(names, block);
	char *text CLEANUP(xfree_cleanup) =
		class ? NULL : block_names_text(names, block);

	put(writer, flags | (text ? KEPT_TEXT : 0));
	put_name(writer, class ? class : text);
}

/* Types and members, as they can't be asked for later. */
static void put_step(struct writer *writer, const struct block *block)
{
	const struct debug_step step =
		block_names_step(writer->snapshot->names, block);

	put_name(writer, step.path && *step.path ? step.path : NULL);
	put_name(writer, step.type);
}

static void put_pages(struct writer *writer, const struct block *block,
		      size_t *hint)
{
	const struct page_sums pages =
		leaks_pages(&writer->snapshot->leaks, block, hint);

	put(writer, block_usable(block) - pages.resident);
	put(writer, pages.swapped);
	put(writer, pages.huge);
}

/* 0: as many as glibc has. */
static unsigned behind_flag(const struct block *block)
{
	if (block->behind == (block->mapped ? 16 : 8))
		return 0;
	if (!block->behind)
		return BEHIND_NONE;
	return block->behind + (block->behind >= BEHIND_NONE);
}

static void write_one(struct writer *writer, size_t index, size_t *hint)
{
	const struct snapshot *snapshot = writer->snapshot;
	const struct block *block = &snapshot->leaks.glibc.blocks.list[index];

	put(writer, block->address - writer->last);
	put(writer, block->units);
	writer->last = block->address + block_usable(block);
	put_block_name(writer, block,
		       block->mark | (block->mapped ? KEPT_MAPPED : 0) |
			       behind_flag(block) * KEPT_BEHIND);
	put(writer, snapshot->owners.of[index]);
	put(writer, zigzag(snapshot->leaks.reach.ways[index] - block->address));
	put_pages(writer, block, hint);
	put_step(writer, block);
	end_entry(writer);
}

static void write_blocks(struct writer *writer)
{
	const struct blocks *blocks = &writer->snapshot->leaks.glibc.blocks;
	size_t hint = 0;

	begin(writer, PART_BLOCKS);
	writer->numbers = xcalloc(blocks->count + 1, sizeof(*writer->numbers));
	for (size_t i = 0; i < blocks->count; i++) {
		if (!block_is_used(&blocks->list[i]))
			continue;
		writer->numbers[i] = writer->blocks++;
		write_one(writer, i, &hint);
	}
}

static int compare_addresses(const void *a, const void *b)
{
	const taddr_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool is_held(const struct block *block)
{
	return block_is_used(block) &&
	       (block->mark == REACH_REACHED || block->mark == REACH_POSSIBLE);
}

static void add_place(struct writer *writer, taddr_t where)
{
	writer->places = xgrow(writer->places, writer->place_count,
			       &writer->place_room, sizeof(*writer->places));
	writer->places[writer->place_count++] = where;
}

/* Those that there is no room for, as what comes first is asked for more, have
   no names. */
static void sort_places(struct writer *writer)
{
	size_t count = 0;

	if (writer->place_count)
		qsort(writer->places, writer->place_count,
		      sizeof(*writer->places), compare_addresses);
	for (size_t i = 0; i < writer->place_count && count < PLACES_MAX; i++)
		if (!i || writer->places[i] != writer->places[i - 1])
			writer->places[count++] = writer->places[i];
	writer->place_count = count;
}

/* What ways begin at, and then the pointers that aren't in blocks. */
static void find_places(struct writer *writer)
{
	const struct snapshot *snapshot = writer->snapshot;
	const struct blocks *blocks = &snapshot->leaks.glibc.blocks;

	for (size_t i = 0; i < blocks->count; i++) {
		const taddr_t way = snapshot->leaks.reach.ways[i];

		if (is_held(&blocks->list[i]) && !blocks_around(blocks, way))
			add_place(writer, way);
	}
	sort_places(writer);
	for (size_t i = 0;
	     i < writer->found_count && writer->place_count < PLACES_MAX; i++)
		add_place(writer, writer->found[i].where);
	sort_places(writer);
}

static void write_places(struct writer *writer)
{
	struct block_names *names = writer->snapshot->names;

	find_places(writer);
	begin(writer, PART_PLACES);
	for (size_t i = 0; i < writer->place_count; i++) {
		const taddr_t where = writer->places[i];

		put(writer, where - writer->last);
		writer->last = where;
		put_name(writer, block_names_place(names, where));
		put_name(writer, block_names_variable(names, where));
		put(writer, block_names_is_of_thread(names, where));
		end_entry(writer);
	}
}

/* ---- the graph ---- */

static uint32_t number_of(const struct writer *writer,
			  const struct block *block)
{
	return writer
		->numbers[block - writer->snapshot->leaks.glibc.blocks.list];
}

/* Where, from the one before; the block. */
static void write_roots(struct writer *writer)
{
	begin(writer, PART_ROOTS);
	for (size_t i = 0; i < writer->found_count; i++) {
		const struct root *root = &writer->found[i];

		put(writer, zigzag(root->where - writer->last));
		writer->last = root->where;
		put(writer, root->to);
		put(writer, root->kind);
		writer->roots++;
		end_entry(writer);
	}
}

static void keep_root(struct writer *writer, const struct pointer *pointer)
{
	writer->found = xgrow(writer->found, writer->found_count,
			      &writer->found_room, sizeof(*writer->found));
	writer->found[writer->found_count++] = (struct root){
		.where = pointer->where,
		.to = number_of(writer, pointer->to),
		.kind = pointer->kind,
	};
}

/* All roots are known by now. */
static void begin_pointers(struct writer *writer)
{
	if (writer->part == PART_POINTERS)
		return;
	write_places(writer);
	write_roots(writer);
	begin(writer, PART_POINTERS);
	writer->from = 0;
}

/* The block that it is in, from the one before; where in there, and to which
   block, seen from there. */
static void put_pointer(struct writer *writer, const struct pointer *pointer)
{
	const uint64_t from = number_of(writer, pointer->from);

	begin_pointers(writer);
	put(writer, from - writer->from);
	writer->from = from;
	put(writer, pointer->where - pointer->from->address);
	put(writer, zigzag(number_of(writer, pointer->to) - from));
	put(writer, pointer->kind);
	writer->pointers++;
	end_entry(writer);
}

static void found(void *context, const struct pointer *pointer)
{
	if (pointer->from)
		put_pointer(context, pointer);
	else
		keep_root(context, pointer);
}

static void write_graph(struct writer *writer)
{
	graph_walk(&writer->snapshot->leaks, found, writer);
	begin_pointers(writer);
}

static void write_rings(struct writer *writer)
{
	const struct reach_result *reach = &writer->snapshot->leaks.reach;

	begin(writer, PART_RINGS);
	for (size_t i = 0; i < reach->ring_count; i++) {
		put(writer, reach->rings[i].blocks);
		put(writer, reach->rings[i].bytes);
		put(writer, reach->rings[i].first);
		end_entry(writer);
	}
}

/* Where each of them stood. */
static void write_threads(struct writer *writer)
{
	const struct freeze *freeze = &writer->snapshot->leaks.freeze;

	begin(writer, PART_THREADS);
	for (size_t i = 0; i < freeze->count; i++) {
		const struct frozen_task *task = &freeze->tasks[i];
		const struct arch_ops *arch =
			task->known ? arch_of_regs(&task->regs) : NULL;

		if (!task->tid)
			continue;
		put(writer, task->tid);
		put(writer, arch ? arch->ip(&task->regs) : 0);
		put(writer, arch ? arch->sp(&task->regs) : 0);
		end_entry(writer);
	}
}

/* What is cut has none of these. */
static void write_end(struct writer *writer)
{
	begin(writer, PART_END);
	put(writer, writer->snapshot->view.mappings.count);
	put(writer, writer->blocks);
	put(writer, writer->roots);
	put(writer, writer->pointers);
	end_entry(writer);
	flush(writer);
}

static void forget(struct writer *writer)
{
	struct known_name *name, *next;

	HASH_ITER(hh, writer->known, name, next) {
		HASH_DEL(writer->known, name);
		free(name->text);
		free(name);
	}
	strbuf_fini(&writer->names);
	strbuf_fini(&writer->body);
	free(writer->numbers);
	free(writer->places);
	free(writer->found);
}

void snapshot_write(const struct snapshot *snapshot, struct strbuf *out)
{
	struct writer writer = { .snapshot = snapshot, .out = out };

	snapshot_head_add(out);
	write_process(&writer);
	write_mappings(&writer);
	if (snapshot->has_blocks) {
		write_arenas(&writer);
		write_shape(&writer);
		write_owners(&writer);
		write_blocks(&writer);
		write_graph(&writer);
		write_rings(&writer);
		write_threads(&writer);
	}
	write_end(&writer);
	forget(&writer);
}
