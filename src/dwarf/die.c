/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/die.h"

#include <stdlib.h>

/* How long a chain of references may be. */
#define CHAIN_MAX 16

/* Errors are objects that have to be given back. */
static void forget_error(const struct dwarf *dwarf, int state,
			 Dwarf_Error error)
{
	if (state == DW_DLV_ERROR && error)
		dwarf_dealloc(dwarf->dbg, error, DW_DLA_ERROR);
}

static bool is_done(const struct dwarf *dwarf, int state, Dwarf_Error error)
{
	forget_error(dwarf, state, error);
	return state == DW_DLV_OK;
}

bool die_at(struct dwarf *dwarf, uint64_t offset, struct die *ret)
{
	Dwarf_Error error = NULL;
	Dwarf_Die handle;

	if (!is_done(dwarf,
		     dwarf_offdie_b(dwarf->dbg, offset, 1, &handle, &error),
		     error))
		return false;
	*ret = (struct die){ dwarf, handle };
	return true;
}

bool die_first_child(const struct die *die, struct die *ret)
{
	Dwarf_Error error = NULL;
	Dwarf_Die handle;

	if (!is_done(die->dwarf, dwarf_child(die->handle, &handle, &error),
		     error))
		return false;
	*ret = (struct die){ die->dwarf, handle };
	return true;
}

bool die_to_sibling(struct die *die)
{
	struct die next = { die->dwarf, NULL };
	Dwarf_Error error = NULL;
	bool found = is_done(die->dwarf,
			     dwarf_siblingof_b(die->dwarf->dbg, die->handle, 1,
					       &next.handle, &error),
			     error);

	/* DW_AT_sibling might lead back. */
	if (found && die_offset(&next) <= die_offset(die)) {
		die_put(&next);
		found = false;
	}
	die_put(die);
	if (found)
		*die = next;
	return found;
}

void die_put(struct die *die)
{
	if (die->handle)
		dwarf_dealloc(die->dwarf->dbg, die->handle, DW_DLA_DIE);
	die->handle = NULL;
}

unsigned die_tag(const struct die *die)
{
	Dwarf_Error error = NULL;
	Dwarf_Half tag;

	return is_done(die->dwarf, dwarf_tag(die->handle, &tag, &error),
		       error) ?
		       tag :
		       0;
}

uint64_t die_offset(const struct die *die)
{
	Dwarf_Error error = NULL;
	Dwarf_Off offset;

	return is_done(die->dwarf,
		       dwarf_dieoffset(die->handle, &offset, &error), error) ?
		       offset :
		       0;
}

/* ---- attributes ---- */

static bool get(const struct die *die, unsigned attribute, Dwarf_Attribute *ret)
{
	Dwarf_Error error = NULL;

	return is_done(die->dwarf,
		       dwarf_attr(die->handle, attribute, ret, &error), error);
}

static void put(const struct die *die, Dwarf_Attribute attribute)
{
	dwarf_dealloc(die->dwarf->dbg, attribute, DW_DLA_ATTR);
}

static unsigned form_of(const struct die *die, Dwarf_Attribute attribute)
{
	Dwarf_Error error = NULL;
	Dwarf_Half form;

	return is_done(die->dwarf, dwarf_whatform(attribute, &form, &error),
		       error) ?
		       form :
		       0;
}

bool die_has(const struct die *die, unsigned attribute)
{
	Dwarf_Attribute handle;

	if (!get(die, attribute, &handle))
		return false;
	put(die, handle);
	return true;
}

bool die_flag(const struct die *die, unsigned attribute)
{
	Dwarf_Error error = NULL;
	Dwarf_Attribute handle;
	Dwarf_Bool value;
	bool found;

	if (!get(die, attribute, &handle))
		return false;
	found = is_done(die->dwarf, dwarf_formflag(handle, &value, &error),
			error);
	put(die, handle);
	return found && value;
}

static bool read_signed(const struct die *die, Dwarf_Attribute handle,
			int64_t *ret)
{
	Dwarf_Error error = NULL;
	Dwarf_Signed value;

	if (!is_done(die->dwarf, dwarf_formsdata(handle, &value, &error),
		     error))
		return false;
	*ret = value;
	return true;
}

static bool read_number(const struct die *die, Dwarf_Attribute handle,
			uint64_t *ret)
{
	Dwarf_Error error = NULL;
	Dwarf_Unsigned value;

	if (!is_done(die->dwarf, dwarf_formudata(handle, &value, &error),
		     error))
		return read_signed(die, handle, (int64_t *)ret);
	*ret = value;
	return true;
}

/* An expression that is no more than one constant (DWARF 2 and 3). */
static bool read_expression(const struct die *die, Dwarf_Attribute handle,
			    uint64_t *ret)
{
	Dwarf_Error error = NULL;
	const uint8_t *bytes;
	Dwarf_Block *block;
	Dwarf_Unsigned i;
	unsigned shift = 0;

	if (!is_done(die->dwarf, dwarf_formblock(handle, &block, &error),
		     error))
		return false;
	*ret = 0;
	bytes = block->bl_data;
	for (i = 1; i < block->bl_len && shift < 63; i++, shift += 7) {
		*ret |= (uint64_t)(bytes[i] & 0x7f) << shift;
		if (!(bytes[i] & 0x80))
			break;
	}
	i = block->bl_len >= 2 && bytes[0] == DW_OP_plus_uconst &&
	    i + 1 == block->bl_len;
	dwarf_dealloc(die->dwarf->dbg, block, DW_DLA_BLOCK);
	return i;
}

static bool is_block(unsigned form)
{
	return form == DW_FORM_block1 || form == DW_FORM_block2 ||
	       form == DW_FORM_block4 || form == DW_FORM_block;
}

bool die_number(const struct die *die, unsigned attribute, uint64_t *ret)
{
	Dwarf_Attribute handle;
	unsigned form;
	bool found;

	if (!get(die, attribute, &handle))
		return false;
	form = form_of(die, handle);
	if (form == DW_FORM_exprloc)
		found = false;
	else if (is_block(form))
		found = read_expression(die, handle, ret);
	else
		found = read_number(die, handle, ret);
	put(die, handle);
	return found;
}

/*
 * GCC writes small unsigned values as DW_FORM_data1 and the like, whose sign
 * isn't known: dwarf_formsdata() extends them.
 */
bool die_signed(const struct die *die, unsigned attribute, int64_t *ret)
{
	Dwarf_Attribute handle;
	bool found;

	if (!get(die, attribute, &handle))
		return false;
	found = form_of(die, handle) == DW_FORM_udata ?
			read_number(die, handle, (uint64_t *)ret) :
			read_signed(die, handle, ret);
	put(die, handle);
	return found;
}

const char *die_string(const struct die *die, unsigned attribute)
{
	Dwarf_Error error = NULL;
	Dwarf_Attribute handle;
	char *text = NULL;

	if (!get(die, attribute, &handle))
		return NULL;
	if (!is_done(die->dwarf, dwarf_formstring(handle, &text, &error),
		     error))
		text = NULL;
	put(die, handle);
	return text;
}

static bool is_common_form(unsigned form)
{
	return form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 ||
	       form == DW_FORM_ref_sup8;
}

/* A type in a unit of its own (-fdebug-types-section), found by a hash. */
static bool by_signature(const struct die *die, Dwarf_Attribute handle,
			 struct die *ret)
{
	Dwarf_Error error = NULL;
	Dwarf_Sig8 signature;
	Dwarf_Bool is_info;
	Dwarf_Die unit;

	if (!is_done(die->dwarf, dwarf_formsig8(handle, &signature, &error),
		     error) ||
	    !is_done(die->dwarf,
		     dwarf_find_die_given_sig8(die->dwarf->dbg, &signature,
					       &unit, &is_info, &error),
		     error))
		return false;
	*ret = (struct die){ die->dwarf, unit };
	return true;
}

static bool follow(const struct die *die, Dwarf_Attribute handle,
		   struct die *ret)
{
	unsigned form = form_of(die, handle);
	struct dwarf *dwarf = die->dwarf;
	Dwarf_Error error = NULL;
	Dwarf_Off offset;

	if (form == DW_FORM_ref_sig8)
		return by_signature(die, handle, ret);
	if (!is_done(dwarf, dwarf_global_formref(handle, &offset, &error),
		     error))
		return false;
	if (is_common_form(form))
		dwarf = dwarf->common;
	return dwarf && die_at(dwarf, offset, ret);
}

bool die_reference(const struct die *die, unsigned attribute, struct die *ret)
{
	Dwarf_Attribute handle;
	bool found;

	if (!get(die, attribute, &handle))
		return false;
	found = follow(die, handle, ret);
	put(die, handle);
	return found;
}

bool die_address(const struct die *die, unsigned attribute, uint64_t *ret)
{
	Dwarf_Error error = NULL;
	Dwarf_Attribute handle;
	Dwarf_Addr address;
	bool found;

	if (!get(die, attribute, &handle))
		return false;
	found = is_done(die->dwarf, dwarf_formaddr(handle, &address, &error),
			error);
	put(die, handle);
	if (found)
		*ret = address;
	return found;
}
