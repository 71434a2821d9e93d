/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/infofile.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/xalloc.h"

/* What is kept of units, and what the heap may hold with what libdwarf has. */
#define UNITS_BYTES_MAX (48u << 20)
#define HEAP_MAX        (256u << 20)

/* To look at the heap takes longer than most questions: it is done so often. */
#define TIDY_EACH 32

static int begin(struct object *object, struct dwarf *ret)
{
	Dwarf_Error error = NULL;
	int state;

	/* Whatever is got is given back: libdwarf needn't keep count. */
	dwarf_set_de_alloc_flag(0);
	state = dwarf_object_init_b(object_interface(object), NULL, NULL,
				    DW_GROUPNUMBER_ANY, &ret->dbg, &error);
	if (state == DW_DLV_ERROR)
		dwarf_dealloc(NULL, error, DW_DLA_ERROR);
	if (state != DW_DLV_OK)
		ret->dbg = NULL;
	ret->word_size = object_word_size(object);
	return state == DW_DLV_OK    ? 0 :
	       state == DW_DLV_ERROR ? -EBADMSG :
				       -ENOENT;
}

static void begin_common(struct infofile *file)
{
	Dwarf_Error error = NULL;

	if (!file->common_object || begin(file->common_object, &file->common))
		return;
	file->dwarf.common = &file->common;
	/* Where DW_FORM_GNU_strp_alt is looked up. */
	if (dwarf_set_tied_dbg(file->dwarf.dbg, file->common.dbg, &error) ==
	    DW_DLV_ERROR)
		dwarf_dealloc(file->dwarf.dbg, error, DW_DLA_ERROR);
}

static int begin_all(struct infofile *file)
{
	int err = begin(file->object, &file->dwarf);

	if (!err)
		begin_common(file);
	return err;
}

static void drop_unit(struct infofile *file, struct unit *unit)
{
	HASH_DEL(file->loaded, unit);
	file->loaded_bytes -= unit->bytes;
	unit_free(unit);
}

static void end_all(struct infofile *file)
{
	struct unit *unit, *next;

	HASH_ITER(hh, file->loaded, unit, next)
		drop_unit(file, unit);
	if (file->dwarf.dbg)
		dwarf_end(file->dwarf.dbg);
	if (file->common.dbg)
		dwarf_end(file->common.dbg);
	file->dwarf.dbg = NULL;
	file->common.dbg = NULL;
	file->dwarf.common = NULL;
}

int infofile_open(int fd, int common_fd, struct infofile **ret)
{
	struct infofile *file = xcalloc(1, sizeof(*file));
	int err = object_open(fd, &file->object);

	if (common_fd >= 0 && object_open(common_fd, &file->common_object))
		file->common_object = NULL;
	if (!err)
		err = begin_all(file);
	if (err)
		infofile_close(file);
	else
		*ret = file;
	return err;
}

void infofile_close(struct infofile *file)
{
	end_all(file);
	if (file->common_object)
		object_close(file->common_object);
	if (file->object)
		object_close(file->object);
	intervals_fini(&file->units);
	intervals_fini(&file->data);
	free(file);
}

void infofile_tidy(struct infofile *file)
{
	struct mallinfo2 heap;

	if (file->questions++ % TIDY_EACH)
		return;
	heap = mallinfo2();
	if (heap.uordblks + heap.hblkhd < HEAP_MAX)
		return;
	end_all(file);
	if (begin_all(file))
		_exit(1); /* it could be read before: out of memory */
	malloc_trim(0);
}

/* ---- which unit has an address ---- */

static void add_arange(struct infofile *file, Dwarf_Arange arange)
{
	Dwarf_Unsigned segment, segment_size, length;
	Dwarf_Error error = NULL;
	Dwarf_Addr start;
	Dwarf_Off unit;
	int state = dwarf_get_arange_info_b(arange, &segment, &segment_size,
					    &start, &length, &unit, &error);

	if (state == DW_DLV_ERROR)
		dwarf_dealloc(file->dwarf.dbg, error, DW_DLA_ERROR);
	/* What the linker has thrown away lies at 0 or 1. */
	if (state == DW_DLV_OK && start > 1)
		intervals_add(&file->units, start, start + length, unit);
}

static void read_aranges(struct infofile *file)
{
	Dwarf_Debug dbg = file->dwarf.dbg;
	Dwarf_Error error = NULL;
	Dwarf_Arange *list;
	Dwarf_Signed count, i;
	int state = dwarf_get_aranges(dbg, &list, &count, &error);

	if (state == DW_DLV_ERROR)
		dwarf_dealloc(dbg, error, DW_DLA_ERROR);
	if (state != DW_DLV_OK)
		return;
	for (i = 0; i < count; i++) {
		add_arange(file, list[i]);
		dwarf_dealloc(dbg, list[i], DW_DLA_ARANGE);
	}
	dwarf_dealloc(dbg, list, DW_DLA_LIST);
	intervals_sort(&file->units);
}

static int compare_offsets(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The units that .debug_aranges knows, sorted. */
static uint64_t *known_units(const struct infofile *file)
{
	uint64_t *known = xcalloc(file->units.count + 1, sizeof(*known));
	size_t i;

	for (i = 0; i < file->units.count; i++)
		known[i] = file->units.list[i].value;
	qsort(known, i, sizeof(*known), compare_offsets);
	return known;
}

static void add_unit(struct infofile *file, const struct die *die,
		     uint64_t offset)
{
	struct die_range *ranges;
	uint64_t base = 0;
	size_t count, i;

	(void)die_address(die, DW_AT_low_pc, &base);
	ranges = die_ranges(die, base, &count);
	for (i = 0; i < count; i++)
		intervals_add(&file->units, ranges[i].low, ranges[i].high,
			      offset);
	free(ranges);
}

bool infofile_next_unit(struct infofile *file, struct die *ret)
{
	Dwarf_Half version, address_size, length_size, extension, type;
	Dwarf_Unsigned length, type_offset, next;
	Dwarf_Debug dbg = file->dwarf.dbg;
	Dwarf_Error error = NULL;
	Dwarf_Sig8 signature;
	Dwarf_Off abbrev;
	int state = dwarf_next_cu_header_d(dbg, 1, &length, &version, &abbrev,
					   &address_size, &length_size,
					   &extension, &signature, &type_offset,
					   &next, &type, &error);

	if (state == DW_DLV_OK)
		state = dwarf_siblingof_b(dbg, NULL, 1, &ret->handle, &error);
	if (state == DW_DLV_ERROR)
		dwarf_dealloc(dbg, error, DW_DLA_ERROR);
	ret->dwarf = &file->dwarf;
	return state == DW_DLV_OK;
}

/*
 * clang writes no .debug_aranges unless it is told to, and programs are linked
 * of what several compilers made: the rest says itself what it has.
 */
static void read_all_units(struct infofile *file)
{
	size_t known_count = file->units.count;
	uint64_t *known = known_units(file);
	struct die die;

	while (infofile_next_unit(file, &die)) {
		uint64_t offset = die_offset(&die);

		if (!bsearch(&offset, known, known_count, sizeof(*known),
			     compare_offsets))
			add_unit(file, &die, offset);
		die_put(&die);
	}
	free(known);
	intervals_sort(&file->units);
}

static const struct interval *find_unit(struct infofile *file, uint64_t address)
{
	const struct interval *found;

	if (!file->has_aranges) {
		file->has_aranges = true;
		read_aranges(file);
	}
	found = intervals_find(&file->units, address);
	if (!found && !file->has_all_units) {
		file->has_all_units = true;
		read_all_units(file);
		found = intervals_find(&file->units, address);
	}
	return found;
}

static void make_room(struct infofile *file, const struct unit *wanted)
{
	struct unit *unit, *next;

	HASH_ITER(hh, file->loaded, unit, next) {
		if (file->loaded_bytes <= UNITS_BYTES_MAX)
			return;
		if (unit != wanted)
			drop_unit(file, unit);
	}
}

struct unit *infofile_unit(struct infofile *file, uint64_t address)
{
	const struct interval *found = find_unit(file, address);
	struct unit *unit;

	if (!found)
		return NULL;
	HASH_FIND(hh, file->loaded, &found->value, sizeof(found->value), unit);
	if (unit) {
		HASH_DEL(file->loaded, unit);
		file->loaded_bytes -= unit->bytes;
	} else {
		unit = unit_new(&file->dwarf, found->value);
	}
	unit_count_bytes(unit);
	file->loaded_bytes += unit->bytes;
	HASH_ADD(hh, file->loaded, offset, sizeof(unit->offset), unit);
	make_room(file, unit);
	return unit;
}
