/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/xalloc.h"
#include "dwarf/die.h"

/* No unit has so many. */
#define RANGES_MAX (1u << 22)

struct die_range_list {
	struct die_range *list;
	size_t count, room;
};

/*
 * What the linker has thrown away lies at 0 or 1 (as its relocations were
 * left), or at the end of all addresses.
 */
static void add_range(struct die_range_list *ranges, uint64_t low,
		      uint64_t high)
{
	if (low <= 1 || low >= high || ranges->count == RANGES_MAX)
		return;
	ranges->list = xgrow(ranges->list, ranges->count, &ranges->room,
			     sizeof(*ranges->list));
	ranges->list[ranges->count++] = (struct die_range){ low, high };
}

static void forget(const struct die *die, int state, Dwarf_Error error)
{
	if (state == DW_DLV_ERROR && error)
		dwarf_dealloc(die->dwarf->dbg, error, DW_DLA_ERROR);
}

/* DWARF 5: .debug_rnglists */
static void read_rnglist(const struct die *die, Dwarf_Attribute attribute,
			 Dwarf_Half form, uint64_t value,
			 struct die_range_list *ret)
{
	Dwarf_Unsigned count, offset, i, raw1, raw2, low, high;
	Dwarf_Rnglists_Head head;
	Dwarf_Error error = NULL;
	int state = dwarf_rnglists_get_rle_head(attribute, form, value, &head,
						&count, &offset, &error);

	forget(die, state, error);
	if (state != DW_DLV_OK)
		return;
	for (i = 0; i < count && state == DW_DLV_OK; i++) {
		unsigned length, code;
		Dwarf_Bool missing;

		state = dwarf_get_rnglists_entry_fields_a(head, i, &length,
							  &code, &raw1, &raw2,
							  &missing, &low, &high,
							  &error);
		forget(die, state, error);
		if (state != DW_DLV_OK || code == DW_RLE_end_of_list)
			break;
		if (code != DW_RLE_base_address &&
		    code != DW_RLE_base_addressx && !missing)
			add_range(ret, low, high);
	}
	dwarf_dealloc_rnglists_head(head);
}

/* DWARF 3 and 4: .debug_ranges */
static void read_old_ranges(const struct die *die, uint64_t offset,
			    uint64_t base, struct die_range_list *ret)
{
	Dwarf_Error error = NULL;
	Dwarf_Unsigned bytes;
	Dwarf_Ranges *list;
	Dwarf_Signed count, i;
	Dwarf_Off real;
	int state = dwarf_get_ranges_b(die->dwarf->dbg, offset, die->handle,
				       &real, &list, &count, &bytes, &error);

	forget(die, state, error);
	if (state != DW_DLV_OK)
		return;
	for (i = 0; i < count && list[i].dwr_type != DW_RANGES_END; i++) {
		if (list[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
			base = list[i].dwr_addr2;
		else
			add_range(ret, base + list[i].dwr_addr1,
				  base + list[i].dwr_addr2);
	}
	dwarf_ranges_free(die->dwarf->dbg, list, count);
}

static bool offset_of(const struct die *die, Dwarf_Attribute attribute,
		      Dwarf_Half form, uint64_t *ret)
{
	Dwarf_Error error = NULL;
	Dwarf_Unsigned value;
	int state = form == DW_FORM_sec_offset ?
			    dwarf_global_formref(attribute, &value, &error) :
			    dwarf_formudata(attribute, &value, &error);

	forget(die, state, error);
	*ret = value;
	return state == DW_DLV_OK;
}

static void read_list(const struct die *die, Dwarf_Attribute attribute,
		      uint64_t base, struct die_range_list *ret)
{
	Dwarf_Half form, version, offset_size;
	Dwarf_Error error = NULL;
	int state = dwarf_whatform(attribute, &form, &error);
	uint64_t value;

	forget(die, state, error);
	if (state != DW_DLV_OK || !offset_of(die, attribute, form, &value) ||
	    dwarf_get_version_of_die(die->handle, &version, &offset_size))
		return;
	if (version >= 5)
		read_rnglist(die, attribute, form, value, ret);
	else
		read_old_ranges(die, value, base, ret);
}

/* DW_AT_high_pc is an address, or (from DWARF 4 on) a length. */
static bool high_address(const struct die *die, uint64_t low, uint64_t *ret)
{
	enum Dwarf_Form_Class class;
	Dwarf_Error error = NULL;
	Dwarf_Addr value;
	Dwarf_Half form;
	int state = dwarf_highpc_b(die->handle, &value, &form, &class, &error);

	forget(die, state, error);
	if (state != DW_DLV_OK)
		return false;
	*ret = class == DW_FORM_CLASS_ADDRESS ? value : low + value;
	return true;
}

struct die_range *die_ranges(const struct die *die, uint64_t base,
			     size_t *count_ret)
{
	struct die_range_list ranges = { 0 };
	Dwarf_Error error = NULL;
	Dwarf_Attribute attribute;
	uint64_t low, high;
	int state;

	*count_ret = 0;
	if (die_address(die, DW_AT_low_pc, &low) &&
	    high_address(die, low, &high)) {
		add_range(&ranges, low, high);
	} else {
		state = dwarf_attr(die->handle, DW_AT_ranges, &attribute,
				   &error);
		forget(die, state, error);
		if (state == DW_DLV_OK) {
			read_list(die, attribute, base, &ranges);
			dwarf_dealloc(die->dwarf->dbg, attribute, DW_DLA_ATTR);
		}
	}
	*count_ret = ranges.count;
	return ranges.list;
}

bool die_contains(const struct die *die, uint64_t base, uint64_t address)
{
	size_t count, i;
	struct die_range *list = die_ranges(die, base, &count);
	bool found = false;

	for (i = 0; i < count && !found; i++)
		found = address >= list[i].low && address < list[i].high;
	free(list);
	return found;
}
