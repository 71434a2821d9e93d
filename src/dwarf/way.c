/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/way.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/xalloc.h"
#include "dwarf/data.h"
#include "dwarf/scope.h"
#include "dwarf/type_kind.h"
#include "dwarf/types.h"
#include "dwarf/wire.h"

/* How deep members lie in members. */
#define DEPTH_MAX 32

/* Where one is among the members of a type. */
struct spot {
	struct die type; /* what is there: a pointer, or what can't be divided */
	uint64_t offset; /* … and how far in it */
};

static bool type_of(const struct die *die, struct die *ret)
{
	const char *name = NULL;

	return die_inherited_reference(die, DW_AT_type, ret) &&
	       types_peel(ret, &name);
}

/* 0: it isn't known. */
static uint64_t size_of(const struct die *type)
{
	struct debug_type array, one;
	uint64_t size = 0;
	struct die element;

	type_describe(type, &array);
	if (array.kind != DEBUG_ARRAY || array.size)
		return array.size;
	if (array.length == UINT64_MAX || !type_of(type, &element))
		return 0;
	type_describe(&element, &one);
	if (__builtin_mul_overflow(array.length, one.size, &size))
		size = 0;
	die_put(&element);
	return size;
}

/* What begins so is the library's own business (C++ [lex.name]). */
static bool is_reserved(const char *name)
{
	return name && name[0] == '_' &&
	       (name[1] == '_' || isupper((unsigned char)name[1]));
}

/* A member, or a base class, that isn't elsewhere. */
static bool is_part(const struct die *die)
{
	const unsigned tag = die_tag(die);

	return (tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
	       !die_flag(die, DW_AT_external) &&
	       !die_flag(die, DW_AT_declaration) &&
	       !die_has(die, DW_AT_const_value) &&
	       !die_has(die, DW_AT_virtuality) && !die_has(die, DW_AT_bit_size);
}

/* Whether an offset lies in it; then the spot is within its type. */
static bool covers(const struct die *part, uint64_t offset, struct spot *ret)
{
	uint64_t start = 0;

	if (die_has(part, DW_AT_data_member_location) &&
	    !die_number(part, DW_AT_data_member_location, &start))
		return false;
	if (offset < start || !type_of(part, &ret->type))
		return false;
	ret->offset = offset - start;
	if (ret->offset < size_of(&ret->type))
		return true;
	die_put(&ret->type);
	return false;
}

/* Into the member; false (and nothing is changed) when none is to be told. Of a
   union any of them might be meant. */
static bool enter_struct(struct spot *spot, struct strbuf *path)
{
	struct die part;

	if (die_flag(&spot->type, DW_AT_declaration))
		return false;
	for_each_child(&spot->type, &part) {
		const bool member = die_tag(&part) == DW_TAG_member;
		const char *name = member ? die_string(&part, DW_AT_name) :
					    NULL;
		struct spot inner;

		if (!is_part(&part) || !covers(&part, spot->offset, &inner))
			continue;
		if (is_reserved(name)) {
			die_put(&inner.type);
			die_put(&part);
			return false;
		}
		if (name)
			strbuf_printf(path, ".%s", name);
		die_put(&part);
		die_put(&spot->type);
		*spot = inner;
		return true;
	}
	return false;
}

/* One of several dimensions isn't told by one number. */
static bool has_one_dimension(const struct die *array)
{
	unsigned count = 0;
	struct die range;

	for_each_child(array, &range)
		count += die_tag(&range) == DW_TAG_subrange_type;
	return count == 1;
}

static bool enter_array(struct spot *spot, struct strbuf *path)
{
	struct die element;
	uint64_t size;

	if (!has_one_dimension(&spot->type) || !type_of(&spot->type, &element))
		return false;
	size = size_of(&element);
	if (!size) {
		die_put(&element);
		return false;
	}
	strbuf_printf(path, "[%" PRIu64 "]", spot->offset / size);
	die_put(&spot->type);
	*spot = (struct spot){ element, spot->offset % size };
	return true;
}

static enum debug_type_kind kind_of(const struct die *type)
{
	struct debug_type description;

	type_describe(type, &description);
	return description.kind;
}

/* As far as it can be told; whether that is a pointer's beginning. */
static bool descend(struct spot *spot, struct strbuf *path)
{
	for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
		switch (kind_of(&spot->type)) {
		case DEBUG_STRUCT:
			if (!enter_struct(spot, path))
				return false;
			break;
		case DEBUG_ARRAY:
			if (!enter_array(spot, path))
				return false;
			break;
		case DEBUG_POINTER:
		case DEBUG_REFERENCE:
			return !spot->offset;
		default:
			return false;
		}
	}
	return false;
}

/*
 * What a pointer leads to may go on behind the type that it is declared with: it
 * may be an array of these, or an object of a derived class, or begin with one.
 * Only an array of pointers is sure.
 */
static bool enter_block(const struct die *type, uint64_t offset,
			struct spot *ret, struct strbuf *path)
{
	const uint64_t size = size_of(type);
	const enum debug_type_kind kind = kind_of(type);
	const bool pointers = kind == DEBUG_POINTER;

	if (!size || (offset >= size && !pointers) ||
	    !die_at(type->dwarf, die_offset(type), &ret->type))
		return false;
	ret->offset = offset;
	if (!pointers)
		return true;
	strbuf_printf(path, "[%" PRIu64 "]", offset / size);
	ret->offset = offset % size;
	return true;
}

static bool add_name(const struct die *type, struct strbuf *out)
{
	const enum debug_type_kind kind = kind_of(type);
	const char *name = die_string(type, DW_AT_name);

	if (!name || (kind != DEBUG_STRUCT && kind != DEBUG_UNION))
		return false;
	scope_add(type, out);
	strbuf_puts(out, name);
	return true;
}

/* "session", "session *"; what has no name is none. */
static void write_name(const struct die *type, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	struct die target;

	if (kind_of(type) == DEBUG_POINTER && type_of(type, &target)) {
		if (add_name(&target, &name))
			strbuf_puts(&name, " *");
		die_put(&target);
	} else {
		(void)add_name(type, &name);
	}
	wire_put_string(out, name.text);
}

/* One step; false when the way can't be followed any further. type: of what is
   gone through, and then of what the pointer there leads to. */
static bool step(struct die *type, struct spot *spot, struct strbuf *path,
		 struct strbuf *out)
{
	struct die target;
	bool found = descend(spot, path);

	wire_put_string(out, path->length ? path->text : NULL);
	found = found && type_of(&spot->type, &target);
	die_put(&spot->type);
	die_put(type);
	if (!found) {
		wire_put_string(out, NULL);
		return false;
	}
	*type = target;
	write_name(type, out);
	return true;
}

void way_write(struct infofile *file, uint64_t variable,
	       const uint64_t *offsets, unsigned count, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf steps = { 0 };
	struct die die, type = { .handle = NULL };
	bool going_on = data_find(file, variable, &die);
	unsigned told = 0;

	if (going_on) {
		going_on = type_of(&die, &type);
		die_put(&die);
	}
	while (going_on && told < count) {
		CLEANUP(strbuf_fini) struct strbuf path = { 0 };
		struct spot spot = { .offset = offsets[told] };

		going_on =
			told ? enter_block(&type, offsets[told], &spot, &path) :
			       die_at(type.dwarf, die_offset(&type),
				      &spot.type);
		if (!going_on)
			break;
		going_on = step(&type, &spot, &path, &steps);
		told++;
	}
	die_put(&type);
	wire_put_u32(out, told);
	strbuf_add(out, strbuf_text(&steps), steps.length);
}
