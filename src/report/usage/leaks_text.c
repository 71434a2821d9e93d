/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/usage/leaks_text.h"

#include <inttypes.h>

#include "report/format/amounts.h"
#include "report/format/names.h"

const char *leaks_kind_name(enum reach kind)
{
	static const char *const names[] = {
		[REACH_LOST] = "not known",
		[REACH_DEFINITE] = "definitely lost",
		[REACH_INDIRECT] = "indirectly lost",
		[REACH_POSSIBLE] = "possibly lost",
		[REACH_REACHED] = "still reachable",
	};

	return names[kind];
}

static void add_summary(const struct leaks *leaks, struct strbuf *out)
{
	strbuf_puts(out, "LEAK SUMMARY:\n");
	for (unsigned kind = REACH_DEFINITE; kind < REACH_KINDS; kind++) {
		const struct reach_total *total = &leaks->reach.totals[kind];

		strbuf_printf(out, "%18s: ", leaks_kind_name(kind));
		amounts_add_held(out, total->bytes, total->blocks);
		strbuf_putc(out, '\n');
	}
}

static void add_speed(const struct leaks *leaks, struct strbuf *out)
{
	const struct reach_result *reach = &leaks->reach;

	strbuf_puts(out, "looked through ");
	amounts_add_number(out, leaks->picture.bytes);
	strbuf_puts(out, " bytes in ");
	amounts_add_duration(out, reach->scan_ns);
	strbuf_puts(out, " of processor time");
	if (leaks->picture.unread) {
		strbuf_puts(out, "; not to be had: ");
		amounts_add_count(out, leaks->picture.unread, "byte");
	}
	strbuf_putc(out, '\n');
}

static void add_trouble(const struct glibc_arena *arena, struct strbuf *out)
{
	strbuf_printf(out, "an arena isn't understood from 0x%" PRIx64 " on: ",
		      arena->trouble);
	names_escape(out, arena->why);
	strbuf_puts(out, "; blocks there aren't counted, and what they point "
			 "at is reached\n");
}

static void add_doubts(const struct leaks *leaks, struct strbuf *out)
{
	const struct glibc *glibc = &leaks->glibc;

	for (size_t i = 0; i < glibc->arena_count; i++)
		if (glibc->arenas[i].why)
			add_trouble(&glibc->arenas[i], out);
	if (glibc->known_totals && glibc->found_maps != glibc->map_count) {
		strbuf_puts(out, "of the blocks with mappings of their own ");
		amounts_add_number(out, glibc->found_maps);
		strbuf_puts(out, " were found, malloc counts ");
		amounts_add_number(out, glibc->map_count);
		strbuf_putc(out, '\n');
	}
}

static void add_more(struct strbuf *out, uint64_t rows)
{
	if (!rows)
		return;
	amounts_add_count(out, rows, "more row");
	strbuf_puts(out, " (--top)\n");
}

static size_t rows_of(size_t count, unsigned top)
{
	return top && count > top ? top : count;
}

static void add_rings(const struct reach_result *reach, unsigned top,
		      struct strbuf *out)
{
	const size_t rows = rows_of(reach->ring_count, top);

	for (size_t i = 0; i < rows; i++) {
		const struct reach_ring *ring = &reach->rings[i];

		amounts_add_count(out, ring->blocks, "block");
		strbuf_puts(out, " in a ring, ");
		amounts_add_count(out, ring->bytes, "byte");
		strbuf_printf(out, ", from 0x%" PRIx64 " on\n", ring->first);
	}
	add_more(out, reach->ring_count - rows);
}

static void add_group(const struct leak_group *group, struct strbuf *out)
{
	amounts_add_column(out, group->blocks * group->size, 16);
	amounts_add_column(out, group->blocks, 12);
	amounts_add_column(out, group->size, 12);
	strbuf_printf(out, "  %-16s  0x%" PRIx64 "  ",
		      leaks_kind_name(group->kind), group->first);
	if (group->name) {
		names_escape(out, group->name);
	} else if (group->text) {
		strbuf_putc(out, '"');
		names_escape(out, group->text);
		strbuf_putc(out, '"');
	}
	strbuf_putc(out, '\n');
}

static void add_groups(const struct leaks *leaks, unsigned top,
		       struct strbuf *out)
{
	const size_t rows = rows_of(leaks->group_count, top);

	if (rows)
		strbuf_puts(out, "           bytes      blocks   each up to  "
				 "verdict           first           "
				 "what it begins with\n");
	for (size_t i = 0; i < rows; i++)
		add_group(&leaks->groups[i], out);
	add_more(out, leaks->group_count - rows);
}

void leaks_add_pause(const struct leaks *leaks, struct strbuf *out)
{
	strbuf_puts(out, "all tasks were stopped for ");
	amounts_add_duration(out, leaks->pause_ns);
	if (leaks->copied) {
		strbuf_puts(out, ", and a copy was read");
	} else if (leaks->uncopied) {
		strbuf_puts(out, "; no copy was made: ");
		names_escape(out, leaks->uncopied);
	}
	strbuf_putc(out, '\n');
}

void leaks_text(const struct leaks *leaks, unsigned top, struct strbuf *out)
{
	strbuf_printf(out, "process %d (", (int)leaks->pid);
	names_escape(out, leaks->name);
	strbuf_puts(out, "): what it can't reach any more; ");
	leaks_add_pause(leaks, out);
	add_summary(leaks, out);
	add_speed(leaks, out);
	add_doubts(leaks, out);
	add_rings(&leaks->reach, top, out);
	add_groups(leaks, top, out);
}

void leaks_add_curtailed(struct strbuf *out)
{
	strbuf_puts(out,
		    "debug information isn't asked so many questions: some "
		    "types and members aren't told\n");
}
