/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/unit.h"

#include <stdlib.h>

#include "base/xalloc.h"

/* How deep entries are nested at most. */
#define DEPTH_MAX 128

struct unit *unit_new(struct dwarf *dwarf, uint64_t offset)
{
	struct unit *unit = xcalloc(1, sizeof(*unit));
	uint64_t language;
	struct die die;

	unit->dwarf = dwarf;
	unit->offset = offset;
	if (!die_at(dwarf, offset, &die))
		return unit;
	(void)die_address(&die, DW_AT_low_pc, &unit->base);
	if (die_number(&die, DW_AT_language, &language))
		unit->language = language;
	die_put(&die);
	return unit;
}

void unit_free(struct unit *unit)
{
	intervals_fini(&unit->functions);
	free(unit->copies);
	line_table_fini(&unit->lines);
	free(unit);
}

void unit_count_bytes(struct unit *unit)
{
	unit->bytes = sizeof(*unit) +
		      unit->functions.room * sizeof(*unit->functions.list) +
		      unit->copy_room * sizeof(*unit->copies) +
		      line_table_bytes(&unit->lines);
}

static void add_function(struct unit *unit, const struct die *die)
{
	size_t count, i;
	struct die_range *ranges = die_ranges(die, unit->base, &count);

	for (i = 0; i < count; i++)
		intervals_add(&unit->functions, ranges[i].low, ranges[i].high,
			      die_offset(die));
	free(ranges);
}

/*
 * C and C++ define functions in files and namespaces; only then one has to
 * look at everything.
 */
static bool may_hold_functions(unsigned tag, bool nested)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || nested;
}

static void walk(struct unit *unit, const struct die *parent, bool nested,
		 unsigned depth)
{
	struct die die;

	for_each_child(parent, &die) {
		unsigned tag = die_tag(&die);

		if (tag == DW_TAG_subprogram)
			add_function(unit, &die);
		if (may_hold_functions(tag, nested) && depth < DEPTH_MAX)
			walk(unit, &die, nested, depth + 1);
	}
}

static void read_functions(struct unit *unit, bool nested)
{
	struct die die;

	intervals_fini(&unit->functions);
	unit->has_functions = true;
	unit->has_nested = nested;
	if (die_at(unit->dwarf, unit->offset, &die)) {
		walk(unit, &die, nested, 0);
		die_put(&die);
	}
	intervals_sort(&unit->functions);
}

typedef const struct interval *find_interval(const struct intervals *,
					     uint64_t);

static bool find_function(struct unit *unit, uint64_t address,
			  find_interval *find, struct die *ret)
{
	const struct interval *found;

	if (!unit->has_functions)
		read_functions(unit, false);
	found = find(&unit->functions, address);
	if (!found && !unit->has_nested) {
		read_functions(unit, true);
		found = find(&unit->functions, address);
	}
	return found && die_at(unit->dwarf, found->value, ret);
}

bool unit_function_at(struct unit *unit, uint64_t address, struct die *ret)
{
	return find_function(unit, address, intervals_find, ret);
}

bool unit_function_from(struct unit *unit, uint64_t address, struct die *ret)
{
	return find_function(unit, address, intervals_begin, ret);
}

/* ---- what functions are made of ---- */

/* So long is a chain of them at most. */
#define ORIGINS_MAX 4

static bool next_origin(struct die *die)
{
	struct die found;

	if (!die_reference(die, DW_AT_abstract_origin, &found) &&
	    !die_reference(die, DW_AT_specification, &found))
		return false;
	die_put(die);
	*die = found;
	return true;
}

static void add_copy(struct unit *unit, uint64_t offset)
{
	uint64_t entry;
	size_t count;
	struct die_range *ranges;
	struct die die;

	if (!die_at(unit->dwarf, offset, &die))
		return;
	ranges = die_ranges(&die, unit->base, &count);
	entry = count ? ranges[0].low : 0;
	free(ranges);
	for (unsigned n = 0; n < ORIGINS_MAX && next_origin(&die); n++) {
		if (die.dwarf != unit->dwarf)
			break;
		unit->copies = xgrow(unit->copies, unit->copy_count,
				     &unit->copy_room, sizeof(*unit->copies));
		unit->copies[unit->copy_count++] =
			(struct unit_copy){ die_offset(&die), entry };
	}
	die_put(&die);
}

static int compare_copies(const void *a, const void *b)
{
	const struct unit_copy *x = a, *y = b;

	if (x->origin != y->origin)
		return x->origin < y->origin ? -1 : 1;
	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static void read_copies(struct unit *unit)
{
	unit->has_copies = true;
	if (!unit->has_functions)
		read_functions(unit, false);
	for (size_t i = 0; i < unit->functions.count; i++)
		add_copy(unit, unit->functions.list[i].value);
	if (unit->copy_count)
		qsort(unit->copies, unit->copy_count, sizeof(*unit->copies),
		      compare_copies);
}

uint64_t unit_function_of(struct unit *unit, const struct die *die)
{
	const uint64_t origin = die_offset(die);
	size_t low = 0, high;
	uint64_t found = 0;

	if (die->dwarf != unit->dwarf)
		return 0;
	if (!unit->has_copies)
		read_copies(unit);
	high = unit->copy_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (unit->copies[middle].origin < origin)
			low = middle + 1;
		else
			high = middle;
	}
	/* One that lies in several pieces is there several times. */
	for (; low < unit->copy_count && unit->copies[low].origin == origin;
	     low++) {
		if (found && found != unit->copies[low].entry)
			return 0;
		found = unit->copies[low].entry;
	}
	return found;
}

const struct line_table *unit_lines(struct unit *unit)
{
	struct die die;

	if (!unit->has_lines) {
		unit->has_lines = true;
		if (die_at(unit->dwarf, unit->offset, &die)) {
			line_table_read(&unit->lines, &die);
			die_put(&die);
		}
	}
	return &unit->lines;
}
