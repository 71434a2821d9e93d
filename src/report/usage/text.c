/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/usage/text.h"

#include <inttypes.h>

#include "report/format/amounts.h"
#include "report/format/names.h"
#include "report/usage/objects_text.h"

#define NAME_WIDTH 22

static void add_head(const struct memory_view *view, struct strbuf *out)
{
	strbuf_printf(out, "process %d (", (int)view->pid);
	names_escape(out, view->name);
	strbuf_puts(out, "): where its memory is");
	if (view->frozen) {
		strbuf_puts(out, "; all tasks were stopped for ");
		amounts_add_duration(out, view->pause_ns);
	}
	strbuf_putc(out, '\n');
}

/* ---- mappings ---- */

static void add_share(struct strbuf *out, uint64_t part, uint64_t whole)
{
	if (whole)
		strbuf_printf(out, "%6.1f%%",
			      100.0 * (double)part / (double)whole);
	else
		strbuf_puts(out, "      -");
}

static void add_row(const char *name, const struct memory_total *total,
		    const struct memory_view *view, struct strbuf *out)
{
	const size_t start = out->length;

	strbuf_puts(out, name);
	strbuf_pad(out, start + NAME_WIDTH);
	amounts_add_column(out, total->virtual_bytes, 20);
	amounts_add_column(out, total->resident, 18);
	add_share(out, total->resident, view->vitals.resident_bytes);
	amounts_add_column(out, total->proportional, 18);
	amounts_add_column(out, total->swapped, 16);
	amounts_add_column(out, total->mappings, 10);
	strbuf_putc(out, '\n');
}

static void add_difference(struct strbuf *out, const char *what, uint64_t whole,
			   uint64_t sum)
{
	strbuf_puts(out, what);
	amounts_add_change(out, sum, whole);
}

static void add_remainder(const struct memory_view *view, struct strbuf *out)
{
	const struct vitals *vitals = &view->vitals;

	strbuf_puts(out, "the kernel's own sums less these (remainder):");
	add_difference(out, " virtual ", vitals->virtual_bytes,
		       view->all.virtual_bytes);
	add_difference(out, ", resident ", vitals->resident_bytes,
		       view->all.resident);
	add_difference(out, ", swap ", vitals->swapped_bytes,
		       view->all.swapped);
	strbuf_puts(out, " bytes\n");
	if (view->all.huge) {
		strbuf_puts(out, "in huge pages: ");
		amounts_add_number(out, view->all.huge);
		strbuf_puts(out, " bytes of the resident ones\n");
	}
}

static void add_mappings(const struct memory_view *view, struct strbuf *out)
{
	strbuf_puts(out, "---- MAPPINGS\n");
	strbuf_pad(out, out->length + NAME_WIDTH);
	strbuf_puts(out, "             virtual          resident   share      "
			 "         PSS            swap  mappings\n");
	for (unsigned i = 0; i < MAPPING_KINDS; i++)
		if (view->kinds[i].mappings)
			add_row(mapping_kind_name(i), &view->kinds[i], view,
				out);
	add_row("all", &view->all, view, out);
	add_remainder(view, out);
	if (view->moved)
		strbuf_puts(out,
			    "it has mapped or unmapped memory while it was "
			    "read: these are not all of one instant\n");
}

/* ---- what is in use ---- */

static void add_use(const char *name, const struct memory_use *use,
		    struct strbuf *out)
{
	const size_t start = out->length;

	strbuf_puts(out, name);
	strbuf_pad(out, start + NAME_WIDTH);
	amounts_add_column(out, use->resident, 20);
	amounts_add_column(out, use->touched, 20);
	add_share(out, use->touched, use->resident);
	strbuf_putc(out, '\n');
}

static void add_touched(const struct memory_view *view, struct strbuf *out)
{
	struct memory_use uses[MAPPING_KINDS + 1];

	if (!view->touched.wait_ns)
		return;
	memory_view_sum_touched(view, uses);
	strbuf_puts(out, "---- TOUCHED in ");
	amounts_add_duration(out, view->touched.wait_ns);
	if (!view->touched.sure)
		strbuf_puts(out, ", at least");
	strbuf_putc(out, '\n');
	strbuf_pad(out, out->length + NAME_WIDTH);
	strbuf_puts(out, "            resident     read or written  share\n");
	for (unsigned i = 0; i < MAPPING_KINDS; i++)
		if (uses[i].resident)
			add_use(mapping_kind_name(i), &uses[i], out);
	add_use("all", &uses[MAPPING_KINDS], out);
}

/* ---- the heap ---- */

struct block_sums {
	uint64_t count[BLOCK_STATES], bytes[BLOCK_STATES];
	uint64_t system;
};

static struct block_sums sum_up(const struct glibc *glibc)
{
	struct block_sums sums = { .system = 0 };

	for (size_t i = 0; i < glibc->arena_count; i++) {
		const struct glibc_arena *arena = &glibc->arenas[i];

		sums.system += arena->system_bytes;
		for (unsigned s = 0; s < BLOCK_STATES; s++) {
			sums.count[s] += arena->count[s];
			sums.bytes[s] += arena->bytes[s];
		}
	}
	return sums;
}

static void add_held(struct strbuf *out, const char *what, uint64_t bytes,
		     uint64_t blocks)
{
	strbuf_puts(out, what);
	amounts_add_held(out, bytes, blocks);
	strbuf_putc(out, '\n');
}

static void add_maps(const struct memory_view *view, struct strbuf *out)
{
	const struct glibc *glibc = &view->glibc;

	strbuf_puts(out, "with mappings of their own: ");
	amounts_add_held(out, glibc->found_map_bytes, glibc->found_maps);
	strbuf_puts(out, ", ");
	amounts_add_number(out, view->map_resident);
	strbuf_puts(out, " resident\n");
	if (!glibc->known_totals ||
	    (glibc->found_maps == glibc->map_count &&
	     glibc->found_map_bytes == glibc->map_bytes))
		return;
	strbuf_puts(out, "  malloc itself counts ");
	amounts_add_held(out, glibc->map_bytes, glibc->map_count);
	strbuf_puts(out, ": the others weren't found\n");
}

static void add_sums(const struct memory_view *view, struct strbuf *out)
{
	const struct block_sums sums = sum_up(&view->glibc);

	add_held(out, "in use: ", sums.bytes[BLOCK_USED],
		 sums.count[BLOCK_USED]);
	if (view->glibc.musl) {
		add_held(out, "free slots: ", sums.bytes[BLOCK_FREE],
			 sums.count[BLOCK_FREE]);
		add_maps(view, out);
		return;
	}
	add_held(out,
		 "free, kept for threads (tcache): ", sums.bytes[BLOCK_TCACHE],
		 sums.count[BLOCK_TCACHE]);
	add_held(out, "free, kept by size (fastbins): ", sums.bytes[BLOCK_FAST],
		 sums.count[BLOCK_FAST]);
	add_held(out, "free, among others (bins): ", sums.bytes[BLOCK_FREE],
		 sums.count[BLOCK_FREE]);
	add_held(out, "free, at the top: ", sums.bytes[BLOCK_TOP],
		 sums.count[BLOCK_TOP]);
	add_maps(view, out);
}

static void add_trim(const struct heap_shape *shape, struct strbuf *out)
{
	strbuf_puts(out, "malloc_trim(0) would return about ");
	amounts_add_number(out, shape->trim_resident);
	strbuf_puts(out, " resident bytes");
	if (shape->top_resident) {
		strbuf_puts(out, "; it leaves ");
		amounts_add_number(out, shape->top_resident);
		strbuf_puts(out, " at the tops of threads' arenas");
	}
	strbuf_putc(out, '\n');
}

static void add_pinned(const struct heap_shape *shape, struct strbuf *out)
{
	if (!shape->pinned_pages)
		return;
	strbuf_puts(out, "pages in use to an eighth or less: ");
	amounts_add_number(out, shape->pinned_pages);
	strbuf_puts(out, ", kept by ");
	amounts_add_count(out, shape->pinned_used, "byte");
	strbuf_puts(out, " in use\n");
}

static void add_arena(const struct glibc_arena *arena, struct strbuf *out)
{
	uint64_t free = 0;

	for (unsigned s = BLOCK_TCACHE; s <= BLOCK_FREE; s++)
		free += arena->bytes[s];
	strbuf_printf(out, "0x%012" PRIx64 "%c", arena->address,
		      arena->main ? '*' : ' ');
	amounts_add_column(out, arena->system_bytes, 18);
	amounts_add_column(out, arena->bytes[BLOCK_USED], 18);
	amounts_add_column(out, arena->count[BLOCK_USED], 14);
	amounts_add_column(out, free, 18);
	amounts_add_column(out, arena->bytes[BLOCK_TOP], 16);
	strbuf_putc(out, '\n');
	if (!arena->why)
		return;
	strbuf_printf(out, "  not understood from 0x%" PRIx64 " on: ",
		      arena->trouble);
	names_escape(out, arena->why);
	strbuf_putc(out, '\n');
}

static void add_more(struct strbuf *out, uint64_t rows)
{
	if (!rows)
		return;
	amounts_add_count(out, rows, "more row");
	strbuf_puts(out, " (--top)\n");
}

static void add_arenas(const struct glibc *glibc, unsigned top,
		       struct strbuf *out)
{
	size_t rows = glibc->arena_count;

	strbuf_puts(out, "arena (* main)   bytes of system            in use  "
			 "      blocks              free          at top\n");
	if (top && rows > top)
		rows = top;
	for (size_t i = 0; i < rows; i++)
		add_arena(&glibc->arenas[i], out);
	add_more(out, glibc->arena_count - rows);
}

static void add_sizes(const struct heap_shape *shape, unsigned top,
		      struct strbuf *out)
{
	size_t rows = shape->size_count;

	strbuf_puts(out, " bytes of a block        blocks             bytes  "
			 "keep pages nearly free\n");
	if (top && rows > top)
		rows = top;
	for (size_t i = 0; i < rows; i++) {
		const struct heap_size *size = &shape->sizes[i];

		amounts_add_column(out, size->bytes, 17);
		amounts_add_column(out, size->count, 14);
		amounts_add_column(out, size->bytes * size->count, 18);
		amounts_add_column(out, size->pinning, 24);
		strbuf_putc(out, '\n');
	}
	add_more(out, shape->size_count - rows);
}

static void add_doubts(const struct memory_view *view, struct strbuf *out)
{
	const struct glibc *glibc = &view->glibc;

	if (glibc->bad_lists) {
		strbuf_puts(out, "not understood: ");
		amounts_add_count(out, glibc->bad_lists, "list");
		strbuf_puts(out, " of free blocks; these count as in use\n");
	}
	if (!view->frozen && !glibc_is_understood(glibc))
		strbuf_printf(out,
			      "it was read %u times; --freeze stop keeps "
			      "the process still meanwhile\n",
			      view->attempts);
}

/* The memory that brk() gives is glibc's, where that has blocks as well. */
static void add_where_other_is(const struct memory_view *view,
			       struct strbuf *out)
{
	const enum mapping_kind kinds[] = { MAPPING_ANONYMOUS, MAPPING_HEAP };
	struct memory_total sum = { .mappings = 0 };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct memory_total *kind = &view->kinds[kinds[i]];

		if (!kind->mappings ||
		    (kinds[i] == MAPPING_HEAP && view->has_glibc))
			continue;
		strbuf_printf(out, "%s\"%s\"", sum.mappings ? " and " : "",
			      mapping_kind_name(kinds[i]));
		sum.mappings += kind->mappings;
		sum.virtual_bytes += kind->virtual_bytes;
		sum.resident += kind->resident;
	}
	strbuf_puts(out, " above: ");
	amounts_add_count(out, sum.virtual_bytes, "byte");
	strbuf_puts(out, " at the most, ");
	amounts_add_number(out, sum.resident);
	strbuf_puts(out, " of them resident\n");
}

static void add_other(const struct memory_view *view, struct strbuf *out)
{
	strbuf_puts(out, "---- HEAP OF ");
	names_escape(out, view->allocator);
	strbuf_puts(out, "\nits blocks aren't read; its memory is among ");
	add_where_other_is(view, out);
	if (!view->taken)
		return;
	strbuf_puts(out, "it says itself that it has got ");
	amounts_add_count(out, view->taken, "byte");
	strbuf_puts(out, " from the system\n");
}

static void add_heap(const struct memory_view *view, unsigned top,
		     struct strbuf *out)
{
	if (!view->has_glibc && !view->allocator)
		strbuf_puts(out,
			    "---- HEAP\nno heap that is understood here "
			    "(malloc of glibc or musl, of a 64-bit program)\n");
	if (view->allocator)
		add_other(view, out);
	if (!view->has_glibc)
		return;
	strbuf_printf(out, "---- HEAP (malloc of %s)\n",
		      view->glibc.musl ? "musl" : "glibc");
	add_sums(view, out);
	if (!view->glibc.musl)
		add_trim(&view->shape, out);
	add_pinned(&view->shape, out);
	add_doubts(view, out);
	add_arenas(&view->glibc, top, out);
	add_sizes(&view->shape, top, out);
}

void memory_text(const struct memory_view *view, unsigned top,
		 struct strbuf *out)
{
	add_head(view, out);
	add_mappings(view, out);
	add_touched(view, out);
	add_heap(view, top, out);
	objects_text(view->objects, top, out);
}
