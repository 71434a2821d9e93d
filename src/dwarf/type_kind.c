/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/type_kind.h"

#include <string.h>

static bool is_wide_character(const char *name)
{
	return name && (!strcmp(name, "wchar_t") || !strcmp(name, "char8_t") ||
			!strcmp(name, "char16_t") || !strcmp(name, "char32_t"));
}

static void set_base(const struct die *die, struct debug_type *type)
{
	uint64_t encoding = 0;

	(void)die_number(die, DW_AT_encoding, &encoding);
	switch (encoding) {
	case DW_ATE_boolean:
		type->kind = DEBUG_BOOLEAN;
		break;
	case DW_ATE_complex_float:
		type->kind = DEBUG_COMPLEX;
		break;
	case DW_ATE_float:
		type->kind = DEBUG_FLOAT;
		break;
	case DW_ATE_signed_char:
	case DW_ATE_signed:
		type->is_signed = true;
		/* fall through */
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_address:
		type->kind = is_wide_character(type->name) ||
					     encoding == DW_ATE_signed_char ||
					     encoding == DW_ATE_unsigned_char ?
				     DEBUG_CHARACTER :
				     DEBUG_INTEGER;
		break;
	case DW_ATE_UTF:
		type->kind = DEBUG_CHARACTER;
		break;
	}
	/* What Rust calls u8 and i8 are numbers, and plain char has a name. */
	if (type->kind == DEBUG_CHARACTER && type->name &&
	    (!strcmp(type->name, "u8") || !strcmp(type->name, "i8")))
		type->kind = DEBUG_INTEGER;
}

/* More than libraries ever put on top of each other for wchar_t. */
#define TYPEDEFS_MAX 8

/* C has wchar_t, char16_t and char32_t by typedefs of integers. */
bool type_is_character(const struct die *die)
{
	const char *name;

	if (die_tag(die) != DW_TAG_typedef)
		return false;
	name = die_string(die, DW_AT_name);
	return is_wide_character(name);
}

static void set_character(const struct die *die, struct debug_type *type)
{
	struct die base, next;
	unsigned n = 0;

	if (!die_reference(die, DW_AT_type, &base))
		return;
	while (die_tag(&base) == DW_TAG_typedef && n++ < TYPEDEFS_MAX &&
	       die_reference(&base, DW_AT_type, &next)) {
		die_put(&base);
		base = next;
	}
	if (die_tag(&base) == DW_TAG_base_type) {
		(void)die_number(&base, DW_AT_byte_size, &type->size);
		set_base(&base, type);
	}
	if (type->kind == DEBUG_INTEGER)
		type->kind = DEBUG_CHARACTER;
	die_put(&base);
}

/* The elements of all dimensions; UINT64_MAX when that isn't known. */
static uint64_t array_length(const struct die *die)
{
	uint64_t length = 1;
	struct die range;

	for_each_child(die, &range) {
		uint64_t count;

		if (die_tag(&range) != DW_TAG_subrange_type)
			continue;
		if (die_number(&range, DW_AT_count, &count))
			;
		else if (die_number(&range, DW_AT_upper_bound, &count))
			count++;
		else
			length = UINT64_MAX;
		if (length != UINT64_MAX &&
		    __builtin_mul_overflow(length, count, &length))
			length = UINT64_MAX;
	}
	return length;
}

static void set_array(const struct die *die, struct debug_type *type)
{
	if (die_flag(die, DW_AT_GNU_vector))
		return;
	type->kind = DEBUG_ARRAY;
	type->length = array_length(die);
}

/* Itanium C++ ABI 2.3: one to a function is two words, the others are one. */
static void set_member_pointer(const struct die *die, struct debug_type *type)
{
	struct die target;

	if (!die_reference(die, DW_AT_type, &target))
		return;
	if (die_tag(&target) == DW_TAG_subroutine_type) {
		type->kind = DEBUG_STRUCT;
		type->size = 2 * die->dwarf->word_size;
	}
	die_put(&target);
}

static void set_kind(const struct die *die, struct debug_type *type)
{
	switch (die_tag(die)) {
	case DW_TAG_base_type:
		set_base(die, type);
		break;
	case DW_TAG_typedef:
		set_character(die, type);
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		type->kind = die_tag(die) == DW_TAG_pointer_type ?
				     DEBUG_POINTER :
				     DEBUG_REFERENCE;
		if (!type->size)
			type->size = die->dwarf->word_size;
		break;
	case DW_TAG_array_type:
		set_array(die, type);
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_interface_type:
		type->kind = DEBUG_STRUCT;
		break;
	case DW_TAG_union_type:
		type->kind = DEBUG_UNION;
		break;
	case DW_TAG_enumeration_type:
		type->kind = DEBUG_ENUM;
		break;
	case DW_TAG_subroutine_type:
		type->kind = DEBUG_FUNCTION;
		break;
	case DW_TAG_ptr_to_member_type:
		set_member_pointer(die, type);
		break;
	}
}

void type_describe(const struct die *die, struct debug_type *ret)
{
	uint64_t align = 0;

	*ret = (struct debug_type){ .kind = DEBUG_UNKNOWN,
				    .target = DEBUG_NO_TYPE,
				    .length = UINT64_MAX };
	if (!die->handle)
		return;
	ret->name = die_string(die, DW_AT_name);
	(void)die_number(die, DW_AT_byte_size, &ret->size);
	(void)die_number(die, DW_AT_alignment, &align);
	ret->align = align;
	set_kind(die, ret);
}
