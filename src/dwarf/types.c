/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/types.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"
#include "dwarf/members.h"
#include "dwarf/type_kind.h"
#include "dwarf/wire.h"

/*
 * Who looks at a log line doesn't follow more pointers. What is beyond is
 * DEBUG_UNKNOWN.
 */
#define POINTERS_MAX 2
#define TYPES_MAX    512

/* How many typedefs, consts and the like are peeled off. */
#define PEEL_MAX 32

/* Of two files (what dwz has made common) offsets may be the same. */
struct type_key {
	struct dwarf *dwarf;
	uint64_t offset;
};

struct known_type {
	struct type_key key;
	uint32_t number;
	UT_hash_handle hh;
};

struct queued_type {
	struct die die;    /* no handle: the unknown one */
	const char *name;  /* of a typedef, for what has none itself */
	unsigned pointers; /* that lead to it */
};

void types_init(struct types *types)
{
	*types = (struct types){ .unknown = DEBUG_NO_TYPE };
}

void types_fini(struct types *types)
{
	struct known_type *known, *next;
	size_t i;

	HASH_ITER(hh, types->known, known, next) {
		HASH_DEL(types->known, known);
		free(known);
	}
	for (i = 0; i < types->count; i++)
		die_put(&types->queue[i].die);
	free(types->queue);
}

static uint32_t enqueue(struct types *types, struct die die, const char *name,
			unsigned pointers)
{
	types->queue = xgrow(types->queue, types->count, &types->room,
			     sizeof(*types->queue));
	types->queue[types->count] =
		(struct queued_type){ die, name, pointers };
	return types->count++;
}

static uint32_t unknown(struct types *types)
{
	if (types->unknown == DEBUG_NO_TYPE)
		types->unknown = enqueue(types, (struct die){ 0 }, NULL, 0);
	return types->unknown;
}

static bool is_another_name(unsigned tag)
{
	switch (tag) {
	case DW_TAG_typedef:
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
	case DW_TAG_immutable_type:
	case DW_TAG_packed_type:
	case DW_TAG_shared_type:
	case DW_TAG_template_alias:
		return true;
	}
	return false;
}

bool types_peel(struct die *type, const char **name_ret)
{
	unsigned n = 0;

	while (is_another_name(die_tag(type)) && !type_is_character(type)) {
		struct die next;

		if (!*name_ret && die_tag(type) == DW_TAG_typedef)
			*name_ret = die_string(type, DW_AT_name);
		if (n++ == PEEL_MAX ||
		    !die_reference(type, DW_AT_type, &next)) {
			die_put(type);
			return false;
		}
		die_put(type);
		*type = next;
	}
	return true;
}

static uint32_t number_of(struct types *types, struct die *type,
			  const char *name, unsigned pointers)
{
	struct known_type *known;
	struct type_key key;

	memset(&key, 0, sizeof(key));
	key.dwarf = type->dwarf;
	key.offset = die_offset(type);
	HASH_FIND(hh, types->known, &key, sizeof(key), known);
	if (known) {
		die_put(type);
		return known->number;
	}
	if (pointers > POINTERS_MAX || types->count >= TYPES_MAX) {
		die_put(type);
		return unknown(types);
	}
	known = xcalloc(1, sizeof(*known));
	known->key = key;
	known->number = enqueue(types, *type, name, pointers);
	HASH_ADD(hh, types->known, key, sizeof(key), known);
	return known->number;
}

uint32_t types_behind(struct types *types, const struct die *die,
		      unsigned pointers)
{
	const char *name = NULL;
	struct die type;

	if (!die_inherited_reference(die, DW_AT_type, &type) ||
	    !types_peel(&type, &name))
		return DEBUG_NO_TYPE;
	return number_of(types, &type, name, pointers);
}

uint32_t types_of(struct types *types, const struct die *die)
{
	return types_behind(types, die, 0);
}

/* ---- what a type is ---- */

static void describe(const struct queued_type *queued, struct debug_type *ret)
{
	type_describe(&queued->die, ret);
	if (!ret->name)
		ret->name = queued->name;
}

static bool has_members(const struct queued_type *queued,
			const struct debug_type *type)
{
	return (type->kind == DEBUG_STRUCT || type->kind == DEBUG_UNION) &&
	       queued->pointers < POINTERS_MAX &&
	       !die_flag(&queued->die, DW_AT_declaration);
}

static void complete(struct types *types, const struct queued_type *queued,
		     struct debug_type *type, struct members *parts)
{
	const struct die *die = &queued->die;
	int64_t lowest = 0;

	switch (type->kind) {
	case DEBUG_POINTER:
	case DEBUG_REFERENCE:
		type->target = types_behind(types, die, queued->pointers + 1);
		break;
	case DEBUG_ARRAY:
		type->target = types_behind(types, die, queued->pointers);
		break;
	case DEBUG_ENUM:
		members_read_enum(parts, die, &lowest);
		type->target = types_behind(types, die, queued->pointers);
		type->is_signed = lowest < 0;
		break;
	case DEBUG_STRUCT:
	case DEBUG_UNION:
		if (die_tag(die) == DW_TAG_ptr_to_member_type) {
			members_add_words(parts, unknown(types), type->size);
			break;
		}
		type->declared_only = !has_members(queued, type);
		if (!type->declared_only)
			type->by_address = members_read(parts, types, die,
							queued->pointers);
		break;
	default:
		break;
	}
}

/* ---- writing ---- */

void types_write_part(struct strbuf *out, const struct debug_part *part)
{
	wire_put_string(out, part->name);
	wire_put_u32(out, part->type);
	wire_put_u64(out, part->value);
	wire_put_u64(out, part->offset);
	wire_put_u8(out, part->bit_size);
	wire_put_u8(out, part->bit_offset);
}

static void write_type(const struct debug_type *type,
		       const struct members *parts, struct strbuf *out)
{
	size_t i;

	wire_put_u8(out, type->kind);
	wire_put_string(out, type->name);
	wire_put_u64(out, type->size);
	wire_put_u32(out, type->align);
	wire_put_u8(out, type->is_signed);
	wire_put_u8(out, type->declared_only);
	wire_put_u8(out, type->by_address);
	wire_put_u32(out, type->target);
	wire_put_u64(out, type->length);
	wire_put_u32(out, parts->count);
	for (i = 0; i < parts->count; i++)
		types_write_part(out, &parts->list[i]);
}

void types_write(struct types *types, struct strbuf *out)
{
	struct strbuf bytes = { 0 };
	size_t i;

	/* The queue grows as it is worked off. */
	for (i = 0; i < types->count; i++) {
		struct queued_type queued = types->queue[i];
		struct members parts = { 0 };
		struct debug_type type;

		describe(&queued, &type);
		complete(types, &queued, &type, &parts);
		write_type(&type, &parts, &bytes);
		members_fini(&parts);
	}
	wire_put_u32(out, types->count);
	strbuf_add(out, strbuf_text(&bytes), bytes.length);
	strbuf_fini(&bytes);
}

bool types_is_scalar(const struct types *types, uint32_t number)
{
	struct debug_type type;

	if (number == DEBUG_NO_TYPE)
		return true;
	describe(&types->queue[number], &type);
	switch (type.kind) {
	case DEBUG_INTEGER:
	case DEBUG_CHARACTER:
	case DEBUG_BOOLEAN:
	case DEBUG_FLOAT:
	case DEBUG_POINTER:
	case DEBUG_REFERENCE:
		return true;
	case DEBUG_ENUM:
		return true;
	default:
		return false;
	}
}
