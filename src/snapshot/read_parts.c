/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/xalloc.h"
#include "recording/numbers.h"
#include "snapshot/read_private.h"

/* Names of blocks are numbers of 32 bits. */
#define COUNT_MAX (UINT32_MAX - 1)

/* malloc's addresses, and sums of them, stay far below. */
#define ADDRESS_MAX (UINT64_C(1) << 63)

static bool read_name(struct snapshot_reader *reader, struct cursor *in)
{
	struct kept_names *kept = reader->kept;
	struct cursor part = take_part(in);
	const uint8_t *text = cursor_bytes(&part, part.size);

	if (in->bad || part.bad || kept->count >= COUNT_MAX ||
	    memchr(text, 0, part.size))
		return false;
	kept->texts = xgrow(kept->texts, kept->count, &kept->room,
			    sizeof(*kept->texts));
	kept->texts[kept->count++] = xstrndup((const char *)text, part.size);
	return true;
}

/* A name that stood before; NULL for none, and for what is none. */
static const char *take_name(struct snapshot_reader *reader, struct cursor *in)
{
	const uint64_t number = take_varint(in);

	if (number > reader->kept->count)
		in->bad = true;
	return number && !in->bad ? reader->kept->texts[number - 1] : NULL;
}

/* ---- the process ---- */

static bool read_process(struct snapshot_reader *reader, struct cursor *in)
{
	struct snapshot *snapshot = reader->snapshot;
	struct memory_view *view = &snapshot->view;
	struct leaks *leaks = &snapshot->leaks;
	const char *name, *program;

	if (reader->flags != ~UINT64_C(0))
		return false;
	reader->flags = take_varint(in);
	view->pid = (pid_t)(take_varint(in) & INT32_MAX);
	snapshot->wall = take_varint(in);
	name = take_name(reader, in);
	program = take_name(reader, in);
	view->allocator = take_name(reader, in);
	leaks->pause_ns = take_varint(in);
	leaks->uncopied = take_name(reader, in);
	leaks->picture.bytes = take_varint(in);
	leaks->picture.unread = take_varint(in);
	leaks->reach.scan_ns = take_varint(in);
	view->vitals.virtual_bytes = take_varint(in);
	view->vitals.resident_bytes = take_varint(in);
	view->vitals.swapped_bytes = take_varint(in);
	if (reader->version > 1)
		view->touched.wait_ns = take_varint(in);
	if (reader->version > 6)
		view->taken = take_varint(in);
	view->touched.sure = reader->flags & PROCESS_SURE;
	view->moved = reader->flags & PROCESS_MOVED;
	if (in->bad || reader->flags == ~UINT64_C(0))
		return false;
	strncpy(view->name, name ? name : "", sizeof(view->name) - 1);
	view->mappings.program = program ? xstrdup(program) : NULL;
	return true;
}

static void set_flags(struct mapping *mapping, uint64_t flags)
{
	mapping->readable = flags & MAPPED_READABLE;
	mapping->writable = flags & MAPPED_WRITABLE;
	mapping->executable = flags & MAPPED_EXECUTABLE;
	mapping->shared = flags & MAPPED_SHARED;
}

static void read_touched(struct snapshot_reader *reader, struct cursor *in,
			 taddr_t start)
{
	struct touched *touched = &reader->snapshot->view.touched;
	struct touched_part part = { .start = start };

	part.resident = take_varint(in);
	part.touched = take_varint(in);
	if (in->bad || !part.resident)
		return;
	touched->list = xgrow(touched->list, touched->count, &touched->room,
			      sizeof(*touched->list));
	touched->list[touched->count++] = part;
}

static bool read_mapping(struct snapshot_reader *reader, struct cursor *in)
{
	struct mappings *all = &reader->snapshot->view.mappings;
	const uint64_t gap = take_varint(in), size = take_varint(in);
	const uint64_t kind = take_varint(in);
	struct mapping mapping = { .start = reader->last + gap };
	const char *path;

	mapping.end = mapping.start + size;
	set_flags(&mapping, take_varint(in));
	mapping.inode = take_varint(in);
	mapping.offset = take_varint(in);
	path = take_name(reader, in);
	mapping.resident = take_varint(in);
	mapping.proportional = take_varint(in);
	mapping.swapped = take_varint(in);
	mapping.anonymous = take_varint(in);
	mapping.huge = take_varint(in);
	if (reader->version > 1)
		read_touched(reader, in, mapping.start);
	if (in->bad || kind >= MAPPING_KINDS || mapping.start < reader->last ||
	    mapping.end < mapping.start)
		return false;
	mapping.kind = kind;
	mapping.path = xstrdup(path ? path : "");
	reader->last = mapping.end;
	all->list =
		xgrow(all->list, all->count, &all->room, sizeof(*all->list));
	all->list[all->count++] = mapping;
	return true;
}

/* ---- the heap ---- */

static bool read_arena(struct snapshot_reader *reader, struct cursor *in)
{
	struct glibc *glibc = &reader->snapshot->leaks.glibc;
	struct glibc_arena arena = { .address = take_varint(in) };

	arena.main = take_varint(in);
	arena.system_bytes = take_varint(in);
	arena.system_most = take_varint(in);
	arena.trouble = take_varint(in);
	arena.why = take_name(reader, in);
	for (unsigned s = 0; s < BLOCK_STATES; s++) {
		arena.count[s] = take_varint(in);
		arena.bytes[s] = take_varint(in);
	}
	if (in->bad)
		return false;
	glibc->arenas = xgrow(glibc->arenas, glibc->arena_count,
			      &glibc->arena_room, sizeof(*glibc->arenas));
	glibc->arenas[glibc->arena_count++] = arena;
	return true;
}

static bool read_heap(struct snapshot_reader *reader, struct cursor *in)
{
	struct memory_view *view = &reader->snapshot->view;
	struct glibc *glibc = &reader->snapshot->leaks.glibc;
	const uint64_t flags = take_varint(in);

	glibc->known_totals = flags & HEAP_TOTALS;
	glibc->musl = flags & HEAP_MUSL;
	glibc->map_count = take_varint(in);
	glibc->map_bytes = take_varint(in);
	glibc->found_maps = take_varint(in);
	glibc->found_map_bytes = take_varint(in);
	view->map_resident = take_varint(in);
	glibc->bad_lists = take_varint(in);
	glibc->caches = take_varint(in);
	view->shape.trim_resident = take_varint(in);
	view->shape.trim_virtual = take_varint(in);
	view->shape.top_resident = take_varint(in);
	view->shape.pinned_pages = take_varint(in);
	view->shape.pinned_used = take_varint(in);
	return !in->bad;
}

static bool read_size(struct snapshot_reader *reader, struct cursor *in)
{
	struct heap_shape *shape = &reader->snapshot->view.shape;
	struct heap_size size = { .bytes = take_varint(in) };

	size.count = take_varint(in);
	size.pinning = take_varint(in);
	if (in->bad)
		return false;
	shape->sizes = xgrow(shape->sizes, shape->size_count, &shape->size_room,
			     sizeof(*shape->sizes));
	shape->sizes[shape->size_count++] = size;
	return true;
}

static bool read_owner(struct snapshot_reader *reader, struct cursor *in)
{
	struct owners *owners = &reader->snapshot->owners;
	const char *name = take_name(reader, in);

	if (in->bad || owners->count >= COUNT_MAX)
		return false;
	owners->names = xgrow(owners->names, owners->count, &reader->owner_room,
			      sizeof(*owners->names));
	owners->names[owners->count++] = name ? xstrdup(name) : NULL;
	return true;
}

/* ---- blocks ---- */

struct kept_block {
	struct block block;
	uint64_t name, owner, way, absent, swapped, huge, path, type;
	bool text;
};

/* 0 for those that have none. */
static bool is_owner(const struct owners *owners, uint64_t number)
{
	return !number || (number < owners->count && owners->names[number]);
}

/* Files say it only where it isn't what glibc has. */
static uint8_t behind_of(uint64_t flags)
{
	const uint64_t behind = flags / KEPT_BEHIND;

	if (behind == BEHIND_NONE)
		return 0;
	if (behind > BEHIND_NONE)
		return behind <= UINT8_MAX ? (uint8_t)(behind - 1) : UINT8_MAX;
	if (behind)
		return (uint8_t)behind;
	return flags & KEPT_MAPPED ? 16 : 8;
}

static bool take_block(struct snapshot_reader *reader, struct cursor *in,
		       struct kept_block *ret)
{
	const uint64_t gap = take_varint(in), units = take_varint(in);
	const uint64_t flags = take_varint(in);

	*ret = (struct kept_block){
		.block = {
			.address = reader->last + gap,
			.units = (uint32_t)units,
			.state = BLOCK_USED,
			.mark = flags & KEPT_VERDICT,
			.mapped = flags & KEPT_MAPPED,
			.behind = behind_of(flags),
		},
		.text = flags & KEPT_TEXT,
	};
	ret->name = take_varint(in);
	ret->owner = take_varint(in);
	ret->way = ret->block.address + unzigzag(take_varint(in));
	ret->absent = reader->version > 1 ? take_varint(in) : 0;
	if (reader->version > 3) {
		ret->swapped = take_varint(in);
		ret->huge = take_varint(in);
	}
	if (reader->version > 2) {
		ret->path = take_varint(in);
		ret->type = take_varint(in);
	}
	return !in->bad && gap < ADDRESS_MAX && units && units <= UINT32_MAX &&
	       ret->block.behind <= block_bytes(&ret->block) &&
	       ret->block.address < ADDRESS_MAX &&
	       ret->block.address >= reader->last &&
	       ret->block.address >= BLOCK_UNIT &&
	       ret->block.mark < REACH_KINDS &&
	       ret->absent <= block_usable(&ret->block) &&
	       ret->swapped <= ret->absent &&
	       ret->huge <= block_usable(&ret->block) - ret->absent &&
	       ret->name <= reader->kept->count &&
	       ret->path <= reader->kept->count &&
	       ret->type <= reader->kept->count &&
	       is_owner(&reader->snapshot->owners, ret->owner);
}

static void keep_pages(struct kept_graph *graph, size_t index,
		       const struct kept_block *one)
{
	const struct page_sums pages = {
		.resident = block_usable(&one->block) - one->absent,
		.huge = one->huge,
		.swapped = one->swapped,
	};

	kept_graph_add_pages(graph, index, &pages);
}

/* Most blocks of most files have none. */
static void keep_step(struct kept_names *kept, size_t index,
		      const struct kept_block *one)
{
	if (!one->path && !one->type)
		return;
	while (kept->step_count <= index) {
		kept->steps = xgrow(kept->steps, kept->step_count,
				    &kept->step_room, sizeof(*kept->steps));
		kept->steps[kept->step_count++] = (struct kept_step){ 0 };
	}
	kept->steps[index] =
		(struct kept_step){ (uint32_t)one->path, (uint32_t)one->type };
}

static bool read_kept(struct snapshot_reader *reader, struct cursor *in)
{
	struct snapshot *snapshot = reader->snapshot;
	struct blocks *blocks = &snapshot->leaks.glibc.blocks;
	struct reach_result *reach = &snapshot->leaks.reach;
	struct kept_names *kept = reader->kept;
	const size_t index = blocks->count;
	struct kept_block one;

	if (index >= COUNT_MAX || !take_block(reader, in, &one))
		return false;
	blocks_add(blocks, &one.block);
	reader->last = one.block.address + (reader->version > 4 ?
						    block_usable(&one.block) :
						    block_bytes(&one.block));
	kept->of = xgrow(kept->of, index, &reader->of_room, sizeof(*kept->of));
	kept->is_text = xgrow(kept->is_text, index, &reader->text_room,
			      sizeof(*kept->is_text));
	reach->ways = xgrow(reach->ways, index, &reader->way_room,
			    sizeof(*reach->ways));
	snapshot->owners.of = xgrow(snapshot->owners.of, index,
				    &reader->kept_room,
				    sizeof(*snapshot->owners.of));
	kept->of[index] = (uint32_t)one.name;
	kept->is_text[index] = one.text;
	reach->ways[index] = one.way;
	snapshot->owners.of[index] = (uint32_t)one.owner;
	keep_step(kept, index, &one);
	if (reader->graph)
		keep_pages(reader->graph, index, &one);
	return true;
}

static bool read_place(struct snapshot_reader *reader, struct cursor *in)
{
	struct kept_names *kept = reader->kept;
	struct kept_place place = { .where = reader->last + take_varint(in) };

	place.name = take_name(reader, in);
	if (reader->version > 1) {
		place.variable = take_name(reader, in);
		place.of_thread = take_varint(in);
	}
	if (in->bad || !place.name || place.where < reader->last)
		return false;
	reader->last = place.where;
	kept->places = xgrow(kept->places, kept->place_count, &kept->place_room,
			     sizeof(*kept->places));
	kept->places[kept->place_count++] = place;
	return true;
}

/* ---- the graph ---- */

static bool is_block(const struct snapshot_reader *reader, uint64_t number)
{
	return number < reader->snapshot->leaks.glibc.blocks.count;
}

static bool read_root(struct snapshot_reader *reader, struct cursor *in)
{
	uint64_t block, kind;

	reader->last += unzigzag(take_varint(in));
	block = take_varint(in);
	kind = take_varint(in);
	reader->snapshot->roots++;
	if (in->bad || !is_block(reader, block) || kind >= POINTER_KINDS)
		return false;
	if (reader->graph)
		kept_graph_add_root(reader->graph,
				    &(struct kept_root){
					    .where = reader->last,
					    .to = (uint32_t)block,
					    .kind = kind,
				    });
	return true;
}

static bool read_pointer(struct snapshot_reader *reader, struct cursor *in)
{
	const struct blocks *blocks = &reader->snapshot->leaks.glibc.blocks;
	const uint64_t more = take_varint(in), offset = take_varint(in);
	const uint64_t difference = unzigzag(take_varint(in));
	const uint64_t kind = take_varint(in);

	if (in->bad || more > COUNT_MAX ||
	    !is_block(reader, reader->from + more))
		return false;
	reader->from += more;
	reader->snapshot->pointers++;
	if (!is_block(reader, reader->from + difference) ||
	    offset >= block_usable(&blocks->list[reader->from]) ||
	    kind >= POINTER_KINDS)
		return false;
	if (reader->graph)
		kept_graph_add_pointer(reader->graph,
				       &(struct kept_pointer){
					       .from = (uint32_t)reader->from,
					       .to = (uint32_t)(reader->from +
								difference),
					       .offset = offset,
					       .kind = kind,
				       });
	return true;
}

static bool read_ring(struct snapshot_reader *reader, struct cursor *in)
{
	struct reach_result *reach = &reader->snapshot->leaks.reach;
	struct reach_ring ring = { .blocks = take_varint(in) };

	ring.bytes = take_varint(in);
	ring.first = take_varint(in);
	if (in->bad)
		return false;
	reach->rings = xgrow(reach->rings, reach->ring_count, &reach->ring_room,
			     sizeof(*reach->rings));
	reach->rings[reach->ring_count++] = ring;
	return true;
}

/* They are for others. */
static bool read_thread(struct snapshot_reader *reader UNUSED,
			struct cursor *in)
{
	for (unsigned i = 0; i < 3; i++)
		(void)take_varint(in);
	return !in->bad;
}

static bool read_end(struct snapshot_reader *reader, struct cursor *in)
{
	const struct snapshot *snapshot = reader->snapshot;

	reader->ended = true;
	return take_varint(in) == snapshot->view.mappings.count &&
	       take_varint(in) == snapshot->leaks.glibc.blocks.count &&
	       take_varint(in) == snapshot->roots &&
	       take_varint(in) == snapshot->pointers &&
	       reader->flags != ~UINT64_C(0);
}

bool snapshot_read_entry(struct snapshot_reader *reader,
			 enum snapshot_part part, struct cursor *in)
{
	static bool (*const readers[PARTS])(struct snapshot_reader *,
					    struct cursor *) = {
		[PART_NAMES] = read_name,       [PART_PROCESS] = read_process,
		[PART_MAPPINGS] = read_mapping, [PART_ARENAS] = read_arena,
		[PART_HEAP] = read_heap,        [PART_SIZES] = read_size,
		[PART_OWNERS] = read_owner,     [PART_BLOCKS] = read_kept,
		[PART_PLACES] = read_place,     [PART_ROOTS] = read_root,
		[PART_POINTERS] = read_pointer, [PART_RINGS] = read_ring,
		[PART_THREADS] = read_thread,   [PART_END] = read_end,
	};

	/* A part that goes on in another block is counted on. */
	if (part != PART_NAMES && part != reader->part) {
		if (part < reader->part)
			return false;
		reader->part = part;
		reader->last = reader->from = 0;
	}
	return readers[part](reader, in);
}
