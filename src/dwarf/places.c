/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/places.h"

#include "dwarf/calls.h"
#include "dwarf/scope.h"
#include "dwarf/wire.h"

/* A function that the address lies in; inlined, if it isn't the first. */
struct inlined_frame {
	const char *name;
	struct strbuf full; /* with what it is declared in; or empty */
	uint64_t start_line;
	uint64_t call_file; /* where it was inlined, in the one before */
	uint64_t call_line;
	uint64_t call_column;
};

struct frames {
	struct inlined_frame list[WIRE_PLACES_MAX]; /* outermost first */
	unsigned count;
	struct die site; /* the call that is made there, or no handle */
};

/* Compilers give no linkage names to what other files can't see. */
static void add_scope(struct inlined_frame *frame, const struct die *declared)
{
	scope_add(declared, &frame->full);
	if (!frame->full.length)
		return;
	strbuf_puts(&frame->full, frame->name);
	frame->name = strbuf_text(&frame->full);
}

static void add_frame(struct frames *frames, const struct die *die)
{
	struct inlined_frame *frame = &frames->list[frames->count++];
	struct die declared;

	*frame = (struct inlined_frame){ .name = NULL };
	frame->name = die_function_name(die, &frame->start_line, &declared);
	if (declared.handle)
		add_scope(frame, &declared);
	die_put(&declared);
	(void)die_number(die, DW_AT_call_file, &frame->call_file);
	(void)die_number(die, DW_AT_call_line, &frame->call_line);
	(void)die_number(die, DW_AT_call_column, &frame->call_column);
}

/* Blocks without ranges of their own may hold anything. */
static bool may_hold(const struct unit *unit, const struct die *die,
		     uint64_t address)
{
	switch (die_tag(die)) {
	case DW_TAG_inlined_subroutine:
		return die_contains(die, unit->base, address);
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return die_contains(die, unit->base, address) ||
		       (!die_has(die, DW_AT_low_pc) &&
			!die_has(die, DW_AT_ranges));
	}
	return false;
}

static void keep_site(const struct die *die, uint64_t address,
		      struct frames *frames)
{
	if (!frames->site.handle && calls_is_site(die, address))
		(void)die_at(die->dwarf, die_offset(die), &frames->site);
}

/*
 * True when an inlined function was found: siblings needn't be looked at, but
 * for calls, which LLVM has next to all blocks.
 */
static bool find_inlined(const struct unit *unit, const struct die *parent,
			 uint64_t address, struct frames *frames,
			 unsigned depth)
{
	bool found = false;
	struct die die;

	if (depth == 2 * WIRE_PLACES_MAX)
		return false;
	for_each_child(parent, &die) {
		keep_site(&die, address, frames);
		if (found || !may_hold(unit, &die, address))
			continue;
		if (die_tag(&die) == DW_TAG_inlined_subroutine &&
		    frames->count < WIRE_PLACES_MAX) {
			add_frame(frames, &die);
			found = true;
		}
		if (find_inlined(unit, &die, address, frames, depth + 1))
			found = true;
		if (found && (depth || frames->site.handle)) {
			die_put(&die);
			break;
		}
	}
	return found;
}

static void write_place(struct strbuf *out, const struct inlined_frame *frame,
			const char *file, uint32_t line, uint32_t column)
{
	wire_put_string(out, frame ? frame->name : NULL);
	wire_put_string(out, file);
	wire_put_u32(out, line);
	wire_put_u32(out, column);
	wire_put_u32(out, frame ? frame->start_line : 0);
}

static void write_frames(struct strbuf *out, const struct frames *frames,
			 const struct line_table *lines,
			 const struct line_row *row)
{
	const char *file = row ? line_table_file(lines, row->file) : NULL;
	uint32_t line = row ? row->line : 0, column = row ? row->column : 0;
	unsigned i;

	wire_put_u32(out, frames->count);
	for (i = frames->count; i-- > 0;) {
		const struct inlined_frame *frame = &frames->list[i];

		write_place(out, frame, file, line, column);
		file = line_table_file(lines, frame->call_file);
		line = frame->call_line;
		column = frame->call_column;
	}
}

static void free_frames(struct frames *frames)
{
	die_put(&frames->site);
	for (unsigned i = 0; i < frames->count; i++)
		strbuf_fini(&frames->list[i].full);
}

static void write_caller(struct unit *unit, const struct die *function,
			 const struct frames *frames, struct strbuf *out)
{
	wire_put_u64(out, function ? calls_entry(unit, function) : 0);
	calls_write_target(unit, frames->site.handle ? &frames->site : NULL,
			   out);
}

void places_write(struct infofile *file, uint64_t address, struct strbuf *out)
{
	struct unit *unit = infofile_unit(file, address);
	struct frames frames = { .count = 0 };
	const struct line_table *lines;
	const struct line_row *row;
	struct die function;

	if (!unit) {
		write_caller(unit, NULL, &frames, out);
		wire_put_u32(out, 0);
		return;
	}
	if (unit_function_at(unit, address, &function)) {
		add_frame(&frames, &function);
		(void)find_inlined(unit, &function, address, &frames, 0);
		write_caller(unit, &function, &frames, out);
		die_put(&function);
	} else {
		write_caller(unit, NULL, &frames, out);
	}
	lines = unit_lines(unit);
	row = line_table_find(lines, address);
	if (frames.count) {
		write_frames(out, &frames, lines, row);
		free_frames(&frames);
		return;
	}
	wire_put_u32(out, row ? 1 : 0);
	if (row)
		write_place(out, NULL, line_table_file(lines, row->file),
			    row->line, row->column);
}
