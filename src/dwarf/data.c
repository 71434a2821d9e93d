/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/data.h"

#include <string.h>

/* How deep namespaces and blocks are nested at most. */
#define DEPTH_MAX 32

/* So many entries are looked at, and then none in functions any more: they are
   most of debug information. */
#define ENTRIES_MAX 3000000

static uint64_t read_leb(const uint8_t *bytes, Dwarf_Unsigned size)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size && i < 9; i++)
		value |= (uint64_t)(bytes[i] & 0x7f) << (7 * i);
	return value;
}

/* An expression that is no more than an address, or the number of one. */
static bool evaluate(const struct die *die, const uint8_t *bytes,
		     Dwarf_Unsigned size, uint64_t *ret)
{
	Dwarf_Error error = NULL;
	Dwarf_Addr address = 0;
	int state;

	if (size == 1 + die->dwarf->word_size && bytes[0] == DW_OP_addr) {
		memcpy(&address, bytes + 1, size - 1);
		*ret = address;
		return true;
	}
	if (size < 2 || bytes[0] != DW_OP_addrx)
		return false;
	state = dwarf_debug_addr_index_to_addr(die->handle,
					       read_leb(bytes + 1, size - 1),
					       &address, &error);
	if (state == DW_DLV_ERROR && error)
		dwarf_dealloc(die->dwarf->dbg, error, DW_DLA_ERROR);
	*ret = address;
	return state == DW_DLV_OK;
}

static bool location(const struct die *die, uint64_t *ret)
{
	Dwarf_Error error = NULL;
	Dwarf_Attribute attribute;
	Dwarf_Unsigned size;
	Dwarf_Ptr bytes;
	bool found;
	int state = dwarf_attr(die->handle, DW_AT_location, &attribute, &error);

	if (state == DW_DLV_OK) {
		state = dwarf_formexprloc(attribute, &size, &bytes, &error);
		found = state == DW_DLV_OK && evaluate(die, bytes, size, ret);
		dwarf_dealloc(die->dwarf->dbg, attribute, DW_DLA_ATTR);
	} else {
		found = false;
	}
	if (state == DW_DLV_ERROR && error)
		dwarf_dealloc(die->dwarf->dbg, error, DW_DLA_ERROR);
	return found;
}

/* Static variables are within functions, and blocks of these. */
static bool is_around(const struct die *die, unsigned *left)
{
	switch (die_tag(die)) {
	case DW_TAG_namespace:
		return true;
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return *left;
	}
	return false;
}

static void walk(struct infofile *file, const struct die *parent,
		 unsigned depth, unsigned *left)
{
	struct die die;

	for_each_child(parent, &die) {
		uint64_t address;

		*left -= *left > 0;
		if (depth < DEPTH_MAX && is_around(&die, left))
			walk(file, &die, depth + 1, left);
		/* What the linker has thrown away lies at 0. */
		if (die_tag(&die) == DW_TAG_variable &&
		    location(&die, &address) && address)
			intervals_add(&file->data, address, address + 1,
				      die_offset(&die));
	}
}

static void read_data(struct infofile *file)
{
	unsigned left = ENTRIES_MAX;
	struct die unit;

	while (infofile_next_unit(file, &unit)) {
		walk(file, &unit, 0, &left);
		die_put(&unit);
	}
	intervals_sort(&file->data);
}

bool data_find(struct infofile *file, uint64_t address, struct die *ret)
{
	const struct interval *found;

	if (!file->has_data) {
		file->has_data = true;
		read_data(file);
	}
	found = intervals_begin(&file->data, address);
	return found && die_at(&file->dwarf, found->value, ret);
}
