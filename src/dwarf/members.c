/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/members.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "dwarf/copying.h"

/* More are cut off: nobody would read them. */
#define PARTS_MAX 1024

static void add(struct members *members, const struct debug_part *part)
{
	if (members->count == PARTS_MAX)
		return;
	members->list = xgrow(members->list, members->count, &members->room,
			      sizeof(*members->list));
	members->list[members->count++] = *part;
}

/* The size of what a bit-field is cut out of. */
static uint64_t unit_size(const struct die *die)
{
	struct die type, next;
	uint64_t size = 0;
	unsigned n = 0;

	if (die_number(die, DW_AT_byte_size, &size) ||
	    !die_reference(die, DW_AT_type, &type))
		return size;
	while (!die_number(&type, DW_AT_byte_size, &size) && n++ < 16 &&
	       die_reference(&type, DW_AT_type, &next)) {
		die_put(&type);
		type = next;
	}
	die_put(&type);
	return size;
}

/* From the beginning of the struct; false when it isn't said. */
static bool bit_position(const struct die *die, uint64_t size,
			 uint64_t bit_size, uint64_t *ret)
{
	uint64_t offset = 0, from_top;

	if (die_number(die, DW_AT_data_bit_offset, ret))
		return true;
	/* DWARF 2 and 3 count from the highest bit of the storage unit. */
	(void)die_number(die, DW_AT_data_member_location, &offset);
	if (!die_number(die, DW_AT_bit_offset, &from_top))
		return false;
	*ret = offset * 8 + size * 8 - from_top - bit_size;
	return true;
}

/* False when it is none, or lies across storage units. */
static bool set_bits(const struct die *die, struct debug_part *part)
{
	uint64_t size = unit_size(die), bit_size, position;

	if (!die_number(die, DW_AT_bit_size, &bit_size) || !bit_size ||
	    bit_size > 64 || !size || size > 8 ||
	    !bit_position(die, size, bit_size, &position))
		return false;
	part->bit_size = bit_size;
	part->offset = position / (8 * size) * size;
	if (position - part->offset * 8 + bit_size > 8 * size)
		part->offset = position / 8;
	if (position - part->offset * 8 + bit_size > 8 * size)
		return false;
	part->bit_offset = position - part->offset * 8;
	return true;
}

/*
 * Static members and pointers to virtual tables aren't shown; nor are virtual
 * bases, whose place is only known at run time.
 */
static bool is_shown(const struct die *die)
{
	return !die_flag(die, DW_AT_artificial) &&
	       !die_flag(die, DW_AT_external) &&
	       !die_flag(die, DW_AT_declaration) &&
	       !die_has(die, DW_AT_const_value) &&
	       !die_has(die, DW_AT_virtuality);
}

static void add_member(struct members *members, struct types *types,
		       const struct die *die, unsigned pointers)
{
	struct debug_part part = { 0 };

	if (!is_shown(die))
		return;
	if (die_tag(die) == DW_TAG_member)
		part.name = die_string(die, DW_AT_name);
	if (die_has(die, DW_AT_bit_size)) {
		if (!set_bits(die, &part))
			return;
	} else if (die_has(die, DW_AT_data_member_location) &&
		   !die_number(die, DW_AT_data_member_location, &part.offset)) {
		return;
	}
	part.type = types_behind(types, die, pointers);
	add(members, &part);
}

bool members_read(struct members *members, struct types *types,
		  const struct die *die, unsigned pointers)
{
	struct copying copying = { 0 };
	struct die child;

	for_each_child(die, &child) {
		unsigned tag = die_tag(&child);

		copying_add(&copying, die, &child);
		if (tag == DW_TAG_member || tag == DW_TAG_inheritance)
			add_member(members, types, &child, pointers);
	}
	return copying_is_by_address(&copying, die);
}

void members_read_enum(struct members *members, const struct die *die,
		       int64_t *lowest_ret)
{
	struct die child;

	*lowest_ret = 0;
	for_each_child(die, &child) {
		struct debug_part part = { .type = DEBUG_NO_TYPE };

		if (die_tag(&child) != DW_TAG_enumerator)
			continue;
		part.name = die_string(&child, DW_AT_name);
		if (!part.name ||
		    !die_signed(&child, DW_AT_const_value, &part.value))
			continue;
		if (part.value < *lowest_ret)
			*lowest_ret = part.value;
		add(members, &part);
	}
}

void members_add_words(struct members *members, uint32_t type, uint64_t size)
{
	struct debug_part part = { .type = type };

	add(members, &part);
	part.offset = size / 2;
	add(members, &part);
}

void members_fini(struct members *members)
{
	free(members->list);
}
