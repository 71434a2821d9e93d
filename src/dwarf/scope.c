/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/scope.h"

/* So deep entries lie in each other, and so many are looked at. */
#define DEPTH_MAX   64
#define ENTRIES_MAX 200000
#define SCOPE_MAX   4096 /* bytes */

static bool is_cxx(const struct die *unit)
{
	uint64_t language = 0;

	(void)die_number(unit, DW_AT_language, &language);
	switch (language) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2b: /* DW_LANG_C_plus_plus_20 */
		return true;
	}
	return false;
}

static bool unit_of(const struct die *die, struct die *ret)
{
	Dwarf_Error error = NULL;
	Dwarf_Off offset;
	int state = dwarf_CU_dieoffset_given_die(die->handle, &offset, &error);

	if (state == DW_DLV_ERROR && error)
		dwarf_dealloc(die->dwarf->dbg, error, DW_DLA_ERROR);
	return state == DW_DLV_OK && die_at(die->dwarf, offset, ret);
}

static void add_name(const struct die *die, struct strbuf *out)
{
	const char *name = die_string(die, DW_AT_name);

	switch (die_tag(die)) {
	case DW_TAG_namespace:
		strbuf_puts(out, name ? name : "(anonymous namespace)");
		break;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		if (!name)
			return;
		strbuf_puts(out, name);
		break;
	default:
		return;
	}
	strbuf_puts(out, "::");
}

/*
 * Entries don't know what they lie in, but come in the order of their offsets:
 * of all children the last one that doesn't begin behind the offset has it.
 */
static bool child_around(const struct die *parent, uint64_t offset,
			 unsigned *left, struct die *ret)
{
	uint64_t found = 0;
	struct die die;

	for_each_child(parent, &die) {
		if (die_offset(&die) > offset || !*left) {
			die_put(&die);
			break;
		}
		found = die_offset(&die);
		--*left;
	}
	return found && die_at(parent->dwarf, found, ret);
}

void scope_add(const struct die *die, struct strbuf *out)
{
	const uint64_t offset = die_offset(die);
	unsigned left = ENTRIES_MAX;
	struct die at, child;

	if (!unit_of(die, &at))
		return;
	if (is_cxx(&at))
		for (unsigned i = 0; i < DEPTH_MAX; i++) {
			if (!child_around(&at, offset, &left, &child))
				break;
			die_put(&at);
			at = child;
			if (!left || out->length > SCOPE_MAX ||
			    die_offset(&at) == offset)
				break;
			add_name(&at, out);
		}
	die_put(&at);
}
